; Values of Python's as objects that programs read: instances of classes whose fields are in slots, lists, and arrays, are
; read where Python and NumPy keep them. Nothing of Python is changed; what does not fit is left to the caller, which can
; say why.
;
; frame words: 0 start of the objects · 1 their end · 2 table of what was met · 3 its entries less one (a power of two) ·
;        4 the type of arrays · 5 to 9 where an array has its data, rank, extents, element type and flags · 10 flags that
;        must be set
; plan  of a tensor: -1 · label and count of words · element type · rank · extents
;       of data: how many classes · for each the class, and its cell
; cell  label and count of words · count · for each field where an instance has it, and its plan
;       of lists: label and count of words of a link · -1 · the word of the empty list · where a list has its length and
;       its items · a cell of the field that holds the item
; table entry: what was met · its place · its cell · unused
;
; The cells that still have Python's objects in their fields are a list through their third words; their first hold what
; the plan says of the cell. So nothing is recursive. What is met twice is made once.

; Gives the value's word; 0 when something does not fit, -1 when there is no room.
define i64 @relay_build(ptr %root, ptr %root.plan, ptr %frame) nounwind {
entry:
  %cursor.at = alloca ptr
  %list.at = alloca ptr
  %slot.at = alloca ptr
  %field.at = alloca ptr
  %left.at = alloca i64
  %first = alloca [2 x i64]
  %start = load ptr, ptr %frame
  %end.at = getelementptr i64, ptr %frame, i64 1
  %end = load ptr, ptr %end.at
  %table.at = getelementptr i64, ptr %frame, i64 2
  %table = load ptr, ptr %table.at
  %mask.at = getelementptr i64, ptr %frame, i64 3
  %mask = load i64, ptr %mask.at
  %array.type.at = getelementptr i64, ptr %frame, i64 4
  %array.type = load ptr, ptr %array.type.at
  %data.offset.at = getelementptr i64, ptr %frame, i64 5
  %data.offset = load i64, ptr %data.offset.at
  %rank.offset.at = getelementptr i64, ptr %frame, i64 6
  %rank.offset = load i64, ptr %rank.offset.at
  %extents.offset.at = getelementptr i64, ptr %frame, i64 7
  %extents.offset = load i64, ptr %extents.offset.at
  %element.offset.at = getelementptr i64, ptr %frame, i64 8
  %element.offset = load i64, ptr %element.offset.at
  %flags.offset.at = getelementptr i64, ptr %frame, i64 9
  %flags.offset = load i64, ptr %flags.offset.at
  %flags.word.at = getelementptr i64, ptr %frame, i64 10
  %flags.word = load i64, ptr %flags.word.at
  %flags.wanted = trunc i64 %flags.word to i32
  store ptr %root, ptr %start
  %behind = getelementptr i64, ptr %start, i64 1
  store ptr %behind, ptr %cursor.at
  store ptr null, ptr %list.at
  store ptr %start, ptr %slot.at
  %first.plan = getelementptr i64, ptr %first, i64 1
  store ptr %root.plan, ptr %first.plan
  store ptr %first, ptr %field.at
  store i64 1, ptr %left.at
  br label %fields

fields:
  %left = load i64, ptr %left.at
  %none = icmp eq i64 %left, 0
  br i1 %none, label %pop, label %field
field:
  %slot = load ptr, ptr %slot.at
  %object = load ptr, ptr %slot
  %spec = load ptr, ptr %field.at
  %plan.at = getelementptr i64, ptr %spec, i64 1
  %plan = load ptr, ptr %plan.at
  %type.at = getelementptr i64, ptr %object, i64 1
  %type = load ptr, ptr %type.at
  %classes = load i64, ptr %plan
  %cursor = load ptr, ptr %cursor.at
  %is.tensor = icmp slt i64 %classes, 0
  br i1 %is.tensor, label %tensor, label %classes.next

tensor:
  %is.array = icmp eq ptr %type, %array.type
  br i1 %is.array, label %look, label %refuse
look:
  %element.at = getelementptr i8, ptr %object, i64 %element.offset
  %element = load i64, ptr %element.at
  %element.wanted.at = getelementptr i64, ptr %plan, i64 2
  %element.wanted = load i64, ptr %element.wanted.at
  %same.element = icmp eq i64 %element, %element.wanted
  %rank.at = getelementptr i8, ptr %object, i64 %rank.offset
  %rank.word = load i32, ptr %rank.at
  %rank = sext i32 %rank.word to i64
  %rank.wanted.at = getelementptr i64, ptr %plan, i64 3
  %rank.wanted = load i64, ptr %rank.wanted.at
  %same.rank = icmp eq i64 %rank, %rank.wanted
  %flags.at = getelementptr i8, ptr %object, i64 %flags.offset
  %flags = load i32, ptr %flags.at
  %set = and i32 %flags, %flags.wanted
  %all.set = icmp eq i32 %set, %flags.wanted
  %both = and i1 %same.element, %same.rank
  %fits = and i1 %both, %all.set
  br i1 %fits, label %room, label %refuse
room:
  %tensor.words = add i64 %rank, 5
  %tensor.end = getelementptr i64, ptr %cursor, i64 %tensor.words
  %tensor.over = icmp ugt ptr %tensor.end, %end
  br i1 %tensor.over, label %full, label %write
write:
  %tensor.head.at = getelementptr i64, ptr %plan, i64 1
  %tensor.head = load i64, ptr %tensor.head.at
  %tensor.1 = getelementptr i64, ptr %cursor, i64 1
  %tensor.2 = getelementptr i64, ptr %cursor, i64 2
  %tensor.3 = getelementptr i64, ptr %cursor, i64 3
  %tensor.4 = getelementptr i64, ptr %cursor, i64 4
  %tensor.5 = getelementptr i64, ptr %cursor, i64 5
  store i64 1152921504606846976, ptr %cursor
  store i64 %tensor.head, ptr %tensor.1
  store i64 0, ptr %tensor.2
  store i64 1, ptr %tensor.3
  %data.at = getelementptr i8, ptr %object, i64 %data.offset
  %data = load i64, ptr %data.at
  store i64 %data, ptr %tensor.4
  %extents.at = getelementptr i8, ptr %object, i64 %extents.offset
  %extents = load ptr, ptr %extents.at
  %extents.wanted = getelementptr i64, ptr %plan, i64 4
  br label %axes.next
axes.next:
  %axis = phi i64 [ 0, %write ], [ %axis.after, %axis.done ]
  %more.axes = icmp slt i64 %axis, %rank
  br i1 %more.axes, label %compare, label %tensor.done
compare:
  %extent.at = getelementptr i64, ptr %extents, i64 %axis
  %extent = load i64, ptr %extent.at
  %wanted.at = getelementptr i64, ptr %extents.wanted, i64 %axis
  %wanted = load i64, ptr %wanted.at
  %equal = icmp eq i64 %extent, %wanted
  br i1 %equal, label %axis.done, label %refuse
axis.done:
  %out.at = getelementptr i64, ptr %tensor.5, i64 %axis
  store i64 %extent, ptr %out.at
  %axis.after = add i64 %axis, 1
  br label %axes.next
tensor.done:
  store ptr %cursor, ptr %slot
  store ptr %tensor.end, ptr %cursor.at
  br label %next

classes.next:
  %class = phi i64 [ 0, %field ], [ %class.after, %class.other ]
  %more.classes = icmp slt i64 %class, %classes
  br i1 %more.classes, label %class.compare, label %refuse
class.compare:
  %class.word = shl i64 %class, 1
  %class.first = getelementptr i64, ptr %plan, i64 1
  %class.at = getelementptr i64, ptr %class.first, i64 %class.word
  %class.known = load ptr, ptr %class.at
  %class.same = icmp eq ptr %class.known, %type
  br i1 %class.same, label %found, label %class.other
class.other:
  %class.after = add i64 %class, 1
  br label %classes.next
found:
  %cell.at = getelementptr i64, ptr %class.at, i64 1
  %cell = load ptr, ptr %cell.at
  %head = load i64, ptr %cell
  %count.at = getelementptr i64, ptr %cell, i64 1
  %count = load i64, ptr %count.at
  %is.list = icmp slt i64 %count, 0
  br i1 %is.list, label %list.measure, label %counted
list.measure:
  %length.offset.at = getelementptr i64, ptr %cell, i64 3
  %length.offset = load i64, ptr %length.offset.at
  %length.at = getelementptr i8, ptr %object, i64 %length.offset
  %length = load i64, ptr %length.at
  %no.items = icmp eq i64 %length, 0
  br i1 %no.items, label %list.empty, label %hash
list.empty:
  %nil.at = getelementptr i64, ptr %cell, i64 2
  %nil = load i64, ptr %nil.at
  store i64 %nil, ptr %slot
  br label %next
counted:
  %is.empty = icmp eq i64 %count, 0
  br i1 %is.empty, label %immediate, label %hash
immediate:
  %doubled = shl i64 %head, 1
  %odd = or i64 %doubled, 1
  store i64 %odd, ptr %slot
  br label %next
hash:
  %links = phi i64 [ %length, %list.measure ], [ 0, %counted ]
  %identity = ptrtoint ptr %object to i64
  %scaled = lshr i64 %identity, 4
  %mixed = mul i64 %scaled, -7046029254386353131
  %high = lshr i64 %mixed, 32
  br label %probe
probe:
  %position = phi i64 [ %high, %hash ], [ %position.after, %probe.other ]
  %index = and i64 %position, %mask
  %index.words = shl i64 %index, 2
  %entry.at = getelementptr i64, ptr %table, i64 %index.words
  %key = load ptr, ptr %entry.at
  %place.at = getelementptr i64, ptr %entry.at, i64 1
  %made.at = getelementptr i64, ptr %entry.at, i64 2
  %is.free = icmp eq ptr %key, null
  br i1 %is.free, label %new, label %probe.compare
probe.compare:
  %is.met = icmp eq ptr %key, %object
  br i1 %is.met, label %met, label %probe.other
probe.other:
  %position.after = add i64 %index, 1
  br label %probe
met:
  %made = load ptr, ptr %made.at
  %same.cell = icmp eq ptr %made, %cell
  br i1 %same.cell, label %again, label %refuse
again:
  %place = load ptr, ptr %place.at
  store ptr %place, ptr %slot
  br label %next
new:
  br i1 %is.list, label %chain, label %one
chain:
  %chain.words = mul i64 %links, 5
  %chain.end = getelementptr i64, ptr %cursor, i64 %chain.words
  %chain.over = icmp ugt ptr %chain.end, %end
  br i1 %chain.over, label %full, label %chain.fill
chain.fill:
  store ptr %object, ptr %entry.at
  store ptr %cursor, ptr %place.at
  store ptr %cell, ptr %made.at
  store ptr %cursor, ptr %slot
  store ptr %chain.end, ptr %cursor.at
  %items.offset.at = getelementptr i64, ptr %cell, i64 4
  %items.offset = load i64, ptr %items.offset.at
  %items.at = getelementptr i8, ptr %object, i64 %items.offset
  %items = load ptr, ptr %items.at
  %item.cell = getelementptr i64, ptr %cell, i64 5
  br label %chain.next
chain.next:
  %item.index = phi i64 [ 0, %chain.fill ], [ %item.index.next, %chain.linked ]
  %chain.at = phi ptr [ %cursor, %chain.fill ], [ %chain.at.next, %chain.linked ]
  %item.at = getelementptr ptr, ptr %items, i64 %item.index
  %item = load ptr, ptr %item.at
  %no.item = icmp eq ptr %item, null
  br i1 %no.item, label %refuse, label %chain.link
chain.link:
  %chain.1 = getelementptr i64, ptr %chain.at, i64 1
  %chain.2 = getelementptr i64, ptr %chain.at, i64 2
  %chain.3 = getelementptr i64, ptr %chain.at, i64 3
  %chain.4 = getelementptr i64, ptr %chain.at, i64 4
  %chain.at.next = getelementptr i64, ptr %chain.at, i64 5
  store ptr %item.cell, ptr %chain.at
  store i64 %head, ptr %chain.1
  %chain.list = load ptr, ptr %list.at
  store ptr %chain.list, ptr %chain.2
  store ptr %chain.at, ptr %list.at
  store ptr %item, ptr %chain.3
  %item.index.next = add i64 %item.index, 1
  %is.last = icmp eq i64 %item.index.next, %links
  br i1 %is.last, label %chain.done, label %chain.linked
chain.linked:
  store ptr %chain.at.next, ptr %chain.4
  br label %chain.next
chain.done:
  %chain.nil.at = getelementptr i64, ptr %cell, i64 2
  %chain.nil = load i64, ptr %chain.nil.at
  store i64 %chain.nil, ptr %chain.4
  br label %next
one:
  %cell.words = add i64 %count, 3
  %cell.end = getelementptr i64, ptr %cursor, i64 %cell.words
  %cell.over = icmp ugt ptr %cell.end, %end
  br i1 %cell.over, label %full, label %fill
fill:
  store ptr %object, ptr %entry.at
  store ptr %cursor, ptr %place.at
  store ptr %cell, ptr %made.at
  %word.1 = getelementptr i64, ptr %cursor, i64 1
  %word.2 = getelementptr i64, ptr %cursor, i64 2
  %word.3 = getelementptr i64, ptr %cursor, i64 3
  store ptr %cell, ptr %cursor
  store i64 %head, ptr %word.1
  %list = load ptr, ptr %list.at
  store ptr %list, ptr %word.2
  store ptr %cursor, ptr %list.at
  %specs = getelementptr i64, ptr %cell, i64 2
  br label %copy.next
copy.next:
  %i = phi i64 [ 0, %fill ], [ %i.after, %copied ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %copy, label %cell.done
copy:
  %i.words = shl i64 %i, 1
  %offset.at = getelementptr i64, ptr %specs, i64 %i.words
  %offset = load i64, ptr %offset.at
  %part.at = getelementptr i8, ptr %object, i64 %offset
  %part = load ptr, ptr %part.at
  %unset = icmp eq ptr %part, null
  br i1 %unset, label %refuse, label %copied
copied:
  %part.out = getelementptr i64, ptr %word.3, i64 %i
  store ptr %part, ptr %part.out
  %i.after = add i64 %i, 1
  br label %copy.next
cell.done:
  store ptr %cursor, ptr %slot
  store ptr %cell.end, ptr %cursor.at
  br label %next

next:
  %slot.next = getelementptr i64, ptr %slot, i64 1
  store ptr %slot.next, ptr %slot.at
  %spec.next = getelementptr i64, ptr %spec, i64 2
  store ptr %spec.next, ptr %field.at
  %left.next = sub i64 %left, 1
  store i64 %left.next, ptr %left.at
  br label %fields

pop:
  %top = load ptr, ptr %list.at
  %finished = icmp eq ptr %top, null
  br i1 %finished, label %done, label %open
open:
  %link.at = getelementptr i64, ptr %top, i64 2
  %link = load ptr, ptr %link.at
  store ptr %link, ptr %list.at
  store i64 0, ptr %link.at
  %top.cell = load ptr, ptr %top
  store i64 1152921504606846976, ptr %top
  %top.count.at = getelementptr i64, ptr %top.cell, i64 1
  %top.count = load i64, ptr %top.count.at
  store i64 %top.count, ptr %left.at
  %top.specs = getelementptr i64, ptr %top.cell, i64 2
  store ptr %top.specs, ptr %field.at
  %top.fields = getelementptr i64, ptr %top, i64 3
  store ptr %top.fields, ptr %slot.at
  br label %fields

done:
  %word = load i64, ptr %start
  ret i64 %word
full:
  ret i64 -1
refuse:
  ret i64 0
}
