; The heap of one call: counted objects, freed when their count reaches zero and, all together, when the call's result
; has been taken. This text is part of every program that needs it, so that its small functions are inlined there.
;
; heap    0 constants · 8 end of the stack · 16, 24 rest of the chunk · 32 chunks · 40 objects alive · 48 status
;         56 result · 64 free blocks by class (48 lists) · 448 where to jump when the call fails (512 bytes)
;         960 not 0 when the call must not be run again · 968 what calls functions of the caller's
;         976 the index that the call refused · 984 how many entries its axis has
; object  0 count (of a dead one: the next) · 8 label · 12 how many fields are words · 16 class of its block · 24 fields
; tensor  an object with one field, the object that owns its data (or 1) · 32 address of the data · 40 extents
;
; A word is the address of an object, or odd: `2 * label + 1` is an object without fields, and has no count.
; Blocks of class 1 to 16 have 64 bytes times the class; class 17 and up, 2 KiB, 4 KiB, ... They are cut from chunks, the
; first of which (256 KiB) lies behind the heap itself, so that most calls ask for no memory. What becomes of the dead is
; told apart: heap_reused.ll or heap_checked.ll.

declare ptr @relay_alloc(i64)
declare void @relay_free(ptr)
declare void @longjmp(ptr, i32) noreturn
declare i64 @llvm.ctlz.i64(i64, i1)

; End the call with a status. What the heap holds is freed with it.
define internal void @relay_heap_fail(ptr %heap, i32 %status) noinline cold noreturn nounwind {
  %slot = getelementptr i8, ptr %heap, i64 48
  store i32 %status, ptr %slot
  %target = getelementptr i8, ptr %heap, i64 448
  call void @longjmp(ptr %target, i32 1)
  unreachable
}

; Memory that stays until the call's end; its first 64 bytes belong to the list of chunks.
define internal ptr @relay_heap_chunk(ptr %heap, i64 %bytes) noinline nounwind {
entry:
  %whole = add i64 %bytes, 64
  %chunk = call ptr @relay_alloc(i64 %whole)
  %none = icmp eq ptr %chunk, null
  br i1 %none, label %fail, label %link
fail:
  call void @relay_heap_fail(ptr %heap, i32 -1)
  unreachable
link:
  %list = getelementptr i8, ptr %heap, i64 32
  %next = load ptr, ptr %list
  store ptr %next, ptr %chunk
  store ptr %chunk, ptr %list
  %memory = getelementptr i8, ptr %chunk, i64 64
  ret ptr %memory
}

define internal ptr @relay_heap_more(ptr %heap, i64 %class) noinline nounwind {
entry:
  %small = icmp ule i64 %class, 16
  %units = shl i64 %class, 6
  %exponent = sub i64 %class, 6
  %power = shl i64 1, %exponent
  %huge = icmp ugt i64 %class, 46
  %asked = select i1 %huge, i64 -128, i64 %power
  %bytes = select i1 %small, i64 %units, i64 %asked
  %cursor.slot = getelementptr i8, ptr %heap, i64 16
  %end.slot = getelementptr i8, ptr %heap, i64 24
  %cursor = load i64, ptr %cursor.slot
  %end = load i64, ptr %end.slot
  %room = sub i64 %end, %cursor
  %fits = icmp ule i64 %bytes, %room
  br i1 %fits, label %take, label %lacking
lacking:
  br i1 %small, label %refill, label %large
large:
  %own = call ptr @relay_heap_chunk(ptr %heap, i64 %asked)
  ret ptr %own
refill:
  %chunk = call ptr @relay_heap_chunk(ptr %heap, i64 131008)
  %start = ptrtoint ptr %chunk to i64
  %new.end = add i64 %start, 131008
  %new.after = add i64 %start, %bytes
  store i64 %new.after, ptr %cursor.slot
  store i64 %new.end, ptr %end.slot
  ret ptr %chunk
take:
  %after = add i64 %cursor, %bytes
  store i64 %after, ptr %cursor.slot
  %block = inttoptr i64 %cursor to ptr
  ret ptr %block
}

; An object of `bytes` with count 1.
define internal ptr @relay_heap_new(ptr %heap, i64 %bytes, i32 %label, i32 %fields) alwaysinline nounwind {
entry:
  %rounded = add i64 %bytes, 63
  %units = lshr i64 %rounded, 6
  %is.small = icmp ule i64 %bytes, 1024
  %below = sub i64 %bytes, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %below, i1 false)
  %large = sub i64 70, %zeros
  %class = select i1 %is.small, i64 %units, i64 %large
  %bounded = call i64 @llvm.umin.i64(i64 %class, i64 47)
  %offset = shl i64 %bounded, 3
  %lists = getelementptr i8, ptr %heap, i64 64
  %list = getelementptr i8, ptr %lists, i64 %offset
  %first = load ptr, ptr %list
  %empty = icmp eq ptr %first, null
  br i1 %empty, label %more, label %reuse
more:
  %fresh = call ptr @relay_heap_more(ptr %heap, i64 %bounded)
  br label %done
reuse:
  %rest = load ptr, ptr %first
  store ptr %rest, ptr %list
  br label %done
done:
  %object = phi ptr [ %fresh, %more ], [ %first, %reuse ]
  store i64 1, ptr %object
  %label.slot = getelementptr i8, ptr %object, i64 8
  store i32 %label, ptr %label.slot
  %fields.slot = getelementptr i8, ptr %object, i64 12
  store i32 %fields, ptr %fields.slot
  %class.slot = getelementptr i8, ptr %object, i64 16
  store i64 %bounded, ptr %class.slot
  %alive.slot = getelementptr i8, ptr %heap, i64 40
  %alive = load i64, ptr %alive.slot
  %more.alive = add i64 %alive, 1
  store i64 %more.alive, ptr %alive.slot
  ret ptr %object
}

declare i64 @llvm.umin.i64(i64, i64)

; A tensor with room for its data; the caller fills in the extents.
define internal ptr @relay_heap_tensor(ptr %heap, i64 %bytes, i64 %rank, i32 %label) alwaysinline nounwind {
  %axes = shl i64 %rank, 3
  %header = add i64 %axes, 40
  %is.small = icmp ult i64 %bytes, 64
  %mask = select i1 %is.small, i64 15, i64 63
  %padded = add i64 %header, %mask
  %inverse = xor i64 %mask, -1
  %offset = and i64 %padded, %inverse
  %size = add i64 %offset, %bytes
  %object = call ptr @relay_heap_new(ptr %heap, i64 %size, i32 %label, i32 1)
  %owner.slot = getelementptr i8, ptr %object, i64 24
  store i64 1, ptr %owner.slot
  %data = getelementptr i8, ptr %object, i64 %offset
  %data.slot = getelementptr i8, ptr %object, i64 32
  store ptr %data, ptr %data.slot
  ret ptr %object
}

define internal void @relay_heap_retain(i64 %word) alwaysinline nounwind {
entry:
  %odd = trunc i64 %word to i1
  br i1 %odd, label %done, label %count
count:
  %object = inttoptr i64 %word to ptr
  call void @relay_heap_watch(ptr %object)
  %before = load i64, ptr %object
  %after = add i64 %before, 1
  store i64 %after, ptr %object
  br label %done
done:
  ret void
}

define internal void @relay_heap_release(ptr %heap, i64 %word) alwaysinline nounwind {
entry:
  %odd = trunc i64 %word to i1
  br i1 %odd, label %done, label %count
count:
  %object = inttoptr i64 %word to ptr
  call void @relay_heap_watch(ptr %object)
  %before = load i64, ptr %object
  %after = sub i64 %before, 1
  store i64 %after, ptr %object
  %dead = icmp eq i64 %after, 0
  br i1 %dead, label %free, label %done
free:
  call void @relay_heap_bury(ptr %heap, ptr %object)
  br label %done
done:
  ret void
}

; Free a dead object and what dies with it. The dead wait in a list through their counts, so depth costs no stack.
define internal void @relay_heap_bury(ptr %heap, ptr %object) noinline nounwind {
entry:
  store ptr null, ptr %object
  %alive.slot = getelementptr i8, ptr %heap, i64 40
  br label %next
next:
  %dead = phi ptr [ %object, %entry ], [ %list, %put ]
  %waiting = load ptr, ptr %dead
  %fields.slot = getelementptr i8, ptr %dead, i64 12
  %fields = load i32, ptr %fields.slot
  %count = zext i32 %fields to i64
  %words = getelementptr i8, ptr %dead, i64 24
  br label %each
each:
  %index = phi i64 [ 0, %next ], [ %index.after, %step ]
  %list = phi ptr [ %waiting, %next ], [ %list.after, %step ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %put
look:
  %slot = getelementptr i64, ptr %words, i64 %index
  %word = load i64, ptr %slot
  %odd = trunc i64 %word to i1
  br i1 %odd, label %step, label %release
release:
  %field = inttoptr i64 %word to ptr
  call void @relay_heap_watch(ptr %field)
  %before = load i64, ptr %field
  %after = sub i64 %before, 1
  store i64 %after, ptr %field
  %dies = icmp eq i64 %after, 0
  br i1 %dies, label %link, label %step
link:
  store ptr %list, ptr %field
  br label %step
step:
  %list.after = phi ptr [ %list, %look ], [ %list, %release ], [ %field, %link ]
  %index.after = add i64 %index, 1
  br label %each
put:
  call void @relay_heap_give_back(ptr %heap, ptr %dead)
  %alive = load i64, ptr %alive.slot
  %less = sub i64 %alive, 1
  store i64 %less, ptr %alive.slot
  %empty = icmp eq ptr %list, null
  br i1 %empty, label %done, label %next
done:
  ret void
}

; The label of a word.
define internal i32 @relay_heap_label(i64 %word) alwaysinline nounwind {
entry:
  %odd = trunc i64 %word to i1
  br i1 %odd, label %immediate, label %object
immediate:
  %shifted = lshr i64 %word, 1
  %small = trunc i64 %shifted to i32
  ret i32 %small
object:
  %address = inttoptr i64 %word to ptr
  call void @relay_heap_watch(ptr %address)
  %slot = getelementptr i8, ptr %address, i64 8
  %label = load i32, ptr %slot
  ret i32 %label
}

define internal void @relay_heap_check_stack(ptr %heap) alwaysinline nounwind {
entry:
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  %slot = getelementptr i8, ptr %heap, i64 8
  %end = load ptr, ptr %slot
  %over = icmp ult ptr %frame, %end
  br i1 %over, label %fail, label %fine
fail:
  call void @relay_heap_fail(ptr %heap, i32 -2)
  unreachable
fine:
  ret void
}

declare ptr @llvm.frameaddress.p0(i32)

define internal void @relay_heap_open(ptr %heap, ptr %constants) nounwind {
  call void @llvm.memset.p0.i64(ptr %heap, i8 0, i64 448, i1 false)
  store ptr %constants, ptr %heap
  %result = getelementptr i8, ptr %heap, i64 56
  store i64 1, ptr %result
  %first = getelementptr i8, ptr %heap, i64 1024
  %last = getelementptr i8, ptr %first, i64 262144
  %cursor.slot = getelementptr i8, ptr %heap, i64 16
  store ptr %first, ptr %cursor.slot
  %end.slot = getelementptr i8, ptr %heap, i64 24
  store ptr %last, ptr %end.slot
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
