"""Elements on shelves, in boxes: one for each class and side of the basis.

Any two elements of a class may stand in for one another, so that one question to a matroid answers
for a whole box. What a shelf stands for, and how shelves are ordered, is `kinetic`'s business.
"""

import numpy as np


cdef class Boxes:
    """Boxes of elements, by shelf and by class.

    Memory: 13 bytes per element, 28 per box.
    """

    def __init__(self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes):
        size = symmetry_class.shape[0]
        self.symmetry_class = symmetry_class
        self.box_of = np.empty(size, dtype=np.int32)
        self.before = np.empty(size, dtype=np.int32)
        self.after = np.empty(size, dtype=np.int32)
        self.side = np.empty(size, dtype=np.uint8)
        self.of_class = np.empty((n_classes, 2), dtype=np.int32)
        self.on_shelf = np.empty((16, 2), dtype=np.int32)
        self.boxes = np.zeros(16, dtype=BOX)
        self.clear()

    cdef void clear(self) noexcept:
        """Take everything off the shelves."""
        self.box_of[:] = -1
        self.before[:] = -1
        self.after[:] = -1
        self.side[:] = OUTSIDE
        self.of_class[:] = -1
        self.on_shelf[:] = -1
        self.free_box = -1
        self.n_boxes = 0

    cdef int reserve(self) except -1:
        """See to it that there is room for three more boxes."""
        if self.n_boxes + 3 > self.boxes.shape[0]:
            self.boxes = with_room(np.asarray(self.boxes))
        return 0

    # ---- elements ----

    cdef inline int32_t shelf_of(self, int32_t e) noexcept:
        """The shelf of e, -1 if it is on none."""
        return self.boxes[self.box_of[e]].shelf if self.box_of[e] >= 0 else -1

    cdef inline bint has(self, int32_t s, int side) noexcept:
        """Whether shelf s has elements of this side."""
        return self.on_shelf[s, side] >= 0

    cdef void change_side(self, int32_t e) noexcept:
        """From one side of the basis to the other, on the same shelf. Needs room."""
        cdef int32_t s = self.shelf_of(e)
        self.take(e)
        self.side[e] = 1 - self.side[e]
        self.put(s, e)

    cdef void put(self, int32_t s, int32_t e) noexcept:
        """Put e last into its box on shelf s."""
        cdef int32_t b = self.box_for(s, e)
        cdef int32_t last = self.boxes[b].last
        self.box_of[e] = b
        self.before[e] = last
        self.after[e] = -1
        self.boxes[b].last = e
        if last >= 0:
            self.after[last] = e
        else:
            self.boxes[b].first = e

    cdef void take(self, int32_t e) noexcept:
        """Take e out of its box, and an empty box off its shelf."""
        cdef int32_t b = self.box_of[e]
        cdef int32_t before = self.before[e]
        cdef int32_t after = self.after[e]
        cdef int32_t sooner, later
        self.box_of[e] = -1
        if before >= 0:
            self.after[before] = after
        else:
            self.boxes[b].first = after
        if after >= 0:
            self.before[after] = before
        else:
            self.boxes[b].last = before
        if self.boxes[b].first >= 0:
            return
        self.take_box(b, self.side[e])
        sooner = self.boxes[b].sooner
        later = self.boxes[b].later
        if sooner >= 0:
            self.boxes[sooner].later = later
        else:
            self.of_class[self.symmetry_class[e], self.side[e]] = later
        if later >= 0:
            self.boxes[later].sooner = sooner
        self.boxes[b].after = self.free_box
        self.free_box = b

    # ---- boxes ----

    cdef int32_t box_for(self, int32_t s, int32_t e) noexcept:
        """The box on shelf s for elements of the class and side of e, made if there is none."""
        cdef int side = self.side[e]
        cdef int32_t b = self.on_shelf[s, side]
        cdef int32_t later
        # Where all of a chain are of one class, or came class by class, it is the first.
        if b >= 0 and self.symmetry_class[self.boxes[b].first] == self.symmetry_class[e]:
            return b
        later = self.of_class[self.symmetry_class[e], side]
        b = later
        while b >= 0:
            if self.boxes[b].shelf == s:
                return b
            b = self.boxes[b].later
        b = self.free_box
        if b >= 0:
            self.free_box = self.boxes[b].after
        else:
            b = self.n_boxes
            self.n_boxes += 1
        self.boxes[b].first = -1
        self.boxes[b].last = -1
        self.boxes[b].sooner = -1
        self.boxes[b].later = later
        if later >= 0:
            self.boxes[later].sooner = b
        self.of_class[self.symmetry_class[e], side] = b
        self.put_box(b, s, side)
        return b

    cdef void put_box(self, int32_t b, int32_t s, int side) noexcept:
        """Put a box on shelf s, before the others."""
        cdef int32_t after = self.on_shelf[s, side]
        self.boxes[b].shelf = s
        self.boxes[b].before = -1
        self.boxes[b].after = after
        if after >= 0:
            self.boxes[after].before = b
        self.on_shelf[s, side] = b

    cdef void take_box(self, int32_t b, int side) noexcept:
        """Take a box off its shelf."""
        cdef int32_t before = self.boxes[b].before
        cdef int32_t after = self.boxes[b].after
        if before >= 0:
            self.boxes[before].after = after
        else:
            self.on_shelf[self.boxes[b].shelf, side] = after
        if after >= 0:
            self.boxes[after].before = before

    # ---- saving ----

    def state(self):
        """Everything, to be given to `restore` of boxes for the same elements."""
        return {
            "boxes": np.array(self.boxes[: self.n_boxes]),
            "free_box": self.free_box,
            "on_shelf": np.array(self.on_shelf),
        } | {name: np.array(array) for name, array in self.arrays().items()}

    def restore(self, state):
        """Take over what `state` returned."""
        self.boxes = with_room(state["boxes"])
        self.n_boxes = len(state["boxes"])
        self.free_box = state["free_box"]
        self.on_shelf = np.array(state["on_shelf"])
        for name, array in self.arrays().items():
            array[...] = state[name]

    cdef object arrays(self):
        """Those whose length never changes, by name."""
        return {
            "of_class": np.asarray(self.of_class),
            "box_of": np.asarray(self.box_of),
            "before": np.asarray(self.before),
            "after": np.asarray(self.after),
            "side": np.asarray(self.side),
        }


cdef object with_room(values):
    """A copy of an array, twice as long."""
    longer = np.zeros((max(16, 2 * len(values)), *values.shape[1:]), dtype=values.dtype)
    longer[: len(values)] = values
    return longer


BOX = np.dtype(
    [
        ("shelf", "i4"),
        ("first", "i4"),
        ("last", "i4"),
        ("before", "i4"),
        ("after", "i4"),
        ("sooner", "i4"),
        ("later", "i4"),
    ]
)
