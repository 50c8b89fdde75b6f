//! A list whose copies share what neither of them has changed.
//!
//! Each attempt looks at the run as it was when the attempt began, while the run goes on. A copy of a run must
//! therefore cost next to nothing, however many steps it has and however much they have written.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// How many items share a page; a copy counts pages, and a change after it copies one page of pointers.
const PAGE: usize = 64;

/// A list that is cheap to copy.
#[derive(Debug, Clone)]
pub struct Shared<T> {
    pages: Vec<Arc<Vec<Arc<T>>>>,
    length: usize,
}

impl<T> Shared<T> {
    /// Returns how many items there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns an item, if it is there.
    pub fn get(&self, index: usize) -> Option<&T> {
        Some(self.pages.get(index / PAGE)?.get(index % PAGE)?)
    }

    /// Returns the first item.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.pages.iter().flat_map(|page| page.iter()).map(|item| &**item)
    }

    /// Adds an item at the end.
    pub(super) fn push(&mut self, item: T) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => Arc::make_mut(page).push(Arc::new(item)),
            _ => self.pages.push(Arc::new(vec![Arc::new(item)])),
        }
        self.length += 1;
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), length: 0 }
    }
}

impl<T> Index<usize> for Shared<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.pages[index / PAGE][index % PAGE]
    }
}

impl<T: Clone> IndexMut<usize> for Shared<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        Arc::make_mut(&mut Arc::make_mut(&mut self.pages[index / PAGE])[index % PAGE])
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<'a, T> IntoIterator for &'a Shared<T> {
    type Item = &'a T;
    type IntoIter = Box<dyn DoubleEndedIterator<Item = &'a T> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn items_are_where_they_were_put() {
        let list: Shared<usize> = (0..1_000).collect();
        assert_eq!((list.len(), list[0], list[64], list[999], list.get(1_000)), (1_000, 0, 64, 999, None));
        assert_eq!(list.iter().rev().copied().collect::<Vec<_>>(), (0..1_000).rev().collect::<Vec<_>>());
        assert!(Shared::<u8>::default().is_empty());
    }

    #[test]
    fn a_copy_does_not_see_later_changes() {
        let mut list: Shared<usize> = (0..100).collect();
        let copy = list.clone();
        list[70] = 7;
        list.push(100);
        assert_eq!((list[70], list.len(), copy[70], copy.len()), (7, 101, 70, 100));
    }

    /// Counts how often it is copied.
    #[derive(Default)]
    struct Counted(Rc<Cell<usize>>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Self(Rc::clone(&self.0))
        }
    }

    #[test]
    fn a_copy_copies_no_item_and_a_change_copies_one() {
        let count = Rc::new(Cell::new(0));
        let mut list: Shared<Counted> = (0..10_000).map(|_| Counted(Rc::clone(&count))).collect();
        let copy = list.clone();
        assert_eq!(count.get(), 0);
        let _ = &mut list[5_000];
        let _ = &mut list[5_000];
        assert_eq!(count.get(), 1);
        drop(copy);
        let _ = &mut list[1];
        assert_eq!(count.get(), 1, "nobody else looks at it");
    }
}
