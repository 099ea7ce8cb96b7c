//! Builder methods for settings that are no part.

/// Gives a struct a builder method for each listed setting; [`part`](crate::part) gives a part its own.
///
/// After the first semicolon: setters that take `impl Into<T>`, for a field of type `Option<T>` for example. After the
/// second: list fields, whose setters take any iterator.
///
/// ```
/// #[derive(Default)]
/// pub struct Nearest {
///     /// How many rows are neighbors.
///     pub neighbors: usize,
///     /// How far these may be.
///     pub within: Option<f64>,
///     /// The columns that count.
///     pub columns: Vec<String>,
/// }
/// vaglio_core::setters!(Nearest { neighbors: usize; within: Option<f64>; columns: [String] });
///
/// let nearest = Nearest::default().neighbors(3).within(0.5).columns(["bmi", "age"]);
/// assert_eq!((nearest.within, nearest.columns.len()), (Some(0.5), 2));
/// ```
#[macro_export]
macro_rules! setters {
    ($part:ty {
        $($field:ident: $type:ty),* $(,)?;
        $($becoming:ident: $wide:ty),* $(,)?;
        $($list:ident: [$item:ty]),* $(,)?
    }) => {
        impl $part {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
            $(
                #[doc = concat!("Sets [`", stringify!($becoming), "`](#structfield.", stringify!($becoming), ").")]
                #[must_use]
                pub fn $becoming(mut self, $becoming: impl Into<$wide>) -> Self {
                    self.$becoming = $becoming.into();
                    self
                }
            )*
            $(
                #[doc = concat!("Sets [`", stringify!($list), "`](#structfield.", stringify!($list), ").")]
                #[must_use]
                pub fn $list(mut self, $list: impl IntoIterator<Item = impl Into<$item>>) -> Self {
                    self.$list = $list.into_iter().map(Into::into).collect::<Vec<$item>>().into();
                    self
                }
            )*
        }
    };
}
