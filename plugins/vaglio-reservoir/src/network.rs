//! The network, and its reduction to what some nodes need.

use ndarray::Array2;
use vaglio_core::{Error, Feature, Result, gather, saved};
use vaglio_kernels::linalg;

/// Weights of a network with as many nodes as `bias` has entries.
#[saved]
pub(crate) struct Network {
    /// Start of the connections to each node, followed by the end.
    pub starts: Vec<usize>,
    /// Source node of each connection, in increasing order for each target node.
    pub sources: Vec<u32>,
    /// W.
    pub weights: Vec<f64>,
    /// W_in, input by input.
    pub input: Vec<f64>,
    /// b.
    pub bias: Vec<f64>,
}

impl Network {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.bias.len()
    }

    /// Largest |eigenvalue| of W; exactly 0 if the network has no cycle.
    pub fn spectral_radius(&self) -> Result<f64> {
        if !self.has_cycle() {
            return Ok(0.0);
        }
        let mut dense = Array2::zeros((self.nodes(), self.nodes()));
        for node in 0..self.nodes() {
            for (source, weight) in self.incoming(node) {
                dense[[node, source]] = weight;
            }
        }
        linalg::spectral_radius(dense.view())
            .map_err(|failure| Error::Numerical(format!("the spectral radius cannot be computed: {failure}")))
    }

    /// Connections that lead to a node: their sources and weights.
    fn incoming(&self, node: usize) -> impl Iterator<Item = (usize, f64)> {
        let row = self.starts[node]..self.starts[node + 1];
        self.sources[row.clone()].iter().map(|&source| source as usize).zip(self.weights[row].iter().copied())
    }

    /// Whether the network has a cycle, by topological sorting.
    fn has_cycle(&self) -> bool {
        let mut leads_to = vec![Vec::new(); self.nodes()];
        for node in 0..self.nodes() {
            self.incoming(node).for_each(|(source, _)| leads_to[source].push(node));
        }
        let mut waits_for: Vec<usize> = (0..self.nodes()).map(|node| self.incoming(node).count()).collect();
        let mut free: Vec<usize> = (0..self.nodes()).filter(|&node| waits_for[node] == 0).collect();
        let mut taken = 0;
        while let Some(source) = free.pop() {
            taken += 1;
            for &node in &leads_to[source] {
                waits_for[node] -= 1;
                if waits_for[node] == 0 {
                    free.push(node);
                }
            }
        }
        taken < self.nodes()
    }

    /// Subnetwork of the nodes that reach one of `wanted`, in increasing order. Inputs of the subnetwork drive its
    /// nodes or are among `direct`. Also returns the original numbers of nodes and inputs.
    pub fn reaching(&self, wanted: &[usize], direct: &[Feature]) -> (Self, Vec<usize>, Vec<Feature>) {
        let mut is_kept = vec![false; self.nodes()];
        let mut open = wanted.to_vec();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut is_kept[node], true) {
                open.extend(self.incoming(node).map(|(source, _)| source).filter(|&source| !is_kept[source]));
            }
        }
        let nodes: Vec<usize> = (0..self.nodes()).filter(|&node| is_kept[node]).collect();
        let all: Vec<&[f64]> = self.input.chunks_exact(self.nodes()).collect();
        let drives = |feature: Feature| all.get(feature).is_some_and(|column| nodes.iter().any(|&k| column[k] != 0.0));
        let last = all.len().max(direct.iter().map(|feature| feature + 1).max().unwrap_or(0));
        let inputs: Vec<Feature> = (0..last).filter(|&f| direct.contains(&f) || drives(f)).collect();
        let (mut starts, mut sources, mut weights) = (vec![0], Vec::new(), Vec::new());
        for &node in &nodes {
            for (source, weight) in self.incoming(node) {
                // A node that leads to a kept one is kept.
                if let Ok(at) = nodes.binary_search(&source) {
                    sources.push(at as u32);
                    weights.push(weight);
                }
            }
            starts.push(sources.len());
        }
        let pairs = inputs.iter().flat_map(|&feature| nodes.iter().map(move |&node| (feature, node)));
        let input = pairs.map(|(feature, node)| all.get(feature).map_or(0.0, |column| column[node])).collect();
        let bias = gather(&self.bias, &nodes);
        (Network { starts, sources, weights, input, bias }, nodes, inputs)
    }

    /// Rejects saved parts that are not a network with this number of inputs.
    pub fn check(&self, inputs: usize) -> Result<()> {
        let nodes = self.nodes();
        let refuse = |what: &str| Err(Error::Shape(format!("the network's {what}")));
        let Network { starts, sources, weights, input, bias } = self;
        if Some(starts.len()) != nodes.checked_add(1) || starts.first() != Some(&0) || !starts.is_sorted() {
            return refuse("connections are not those of its nodes");
        }
        if starts.last() != Some(&sources.len()) || weights.len() != sources.len() {
            return refuse("connections are not as many as their weights");
        }
        if nodes.checked_mul(inputs) != Some(input.len()) {
            return refuse("input weights are not one a node and input");
        }
        let is_row = |bounds: &[usize]| sources[bounds[0]..bounds[1]].is_sorted_by(|a, b| a < b);
        if !sources.iter().all(|&source| (source as usize) < nodes) || !starts.windows(2).all(is_row) {
            return refuse("connections come from nodes that it does not have, or twice from one");
        }
        if !weights.iter().chain(input).chain(bias).all(|value| value.is_finite()) {
            return refuse("weights are not all finite");
        }
        Ok(())
    }
}
