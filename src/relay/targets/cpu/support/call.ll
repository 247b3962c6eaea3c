; A call from Python: arrays are read where NumPy keeps them, compared with what the entry takes, and the entry is run
; without Python's lock. Nothing of Python is changed; what does not fit is left to the caller, which can say why.
;
; frame  words: 0 entry · 1 constants · 2 workspace · 3 what is wanted · 4 gives up the lock · 5 takes it · 6 symbols · 7 buffers
;        before them: where it is noted that constants were lost
; wanted words: 0 how many arrays · 1 where a tuple's items are · 2 the type of arrays · 3 to 7 where an array has its data,
;        rank, extents, element type and flags · 8 flags that must be set · 9 how many symbols · then for each array its
;        element type, rank, and extents: a number, or -1-k for symbol k

; Gives the entry's status, -2147483648 when an array does not fit, -5 when constants are no longer what they were.
define i32 @relay_call(ptr %arrays, ptr %frame) {
entry:
  %wanted.slot = getelementptr i64, ptr %frame, i64 3
  %wanted = load ptr, ptr %wanted.slot
  %symbols.slot = getelementptr i64, ptr %frame, i64 6
  %symbols = load ptr, ptr %symbols.slot
  %buffers = getelementptr i64, ptr %frame, i64 7
  %count = load i64, ptr %wanted
  %items.slot = getelementptr i64, ptr %wanted, i64 1
  %items.offset = load i64, ptr %items.slot
  %items = getelementptr i8, ptr %arrays, i64 %items.offset
  %type.slot = getelementptr i64, ptr %wanted, i64 2
  %type = load ptr, ptr %type.slot
  %data.slot = getelementptr i64, ptr %wanted, i64 3
  %data.offset = load i64, ptr %data.slot
  %rank.slot = getelementptr i64, ptr %wanted, i64 4
  %rank.offset = load i64, ptr %rank.slot
  %extents.slot = getelementptr i64, ptr %wanted, i64 5
  %extents.offset = load i64, ptr %extents.slot
  %element.slot = getelementptr i64, ptr %wanted, i64 6
  %element.offset = load i64, ptr %element.slot
  %flags.slot = getelementptr i64, ptr %wanted, i64 7
  %flags.offset = load i64, ptr %flags.slot
  %mask.slot = getelementptr i64, ptr %wanted, i64 8
  %mask.word = load i64, ptr %mask.slot
  %mask = trunc i64 %mask.word to i32
  %symbol.count.slot = getelementptr i64, ptr %wanted, i64 9
  %symbol.count = load i64, ptr %symbol.count.slot
  %first = getelementptr i64, ptr %wanted, i64 10
  %symbol.bytes = shl i64 %symbol.count, 3
  call void @llvm.memset.p0.i64(ptr %symbols, i8 -1, i64 %symbol.bytes, i1 false)
  br label %arrays.next
arrays.next:
  %i = phi i64 [ 0, %entry ], [ %i.after, %array.done ]
  %spec = phi ptr [ %first, %entry ], [ %spec.after, %array.done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %array, label %run
array:
  %item.slot = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item.slot
  %item.type.slot = getelementptr i64, ptr %item, i64 1
  %item.type = load ptr, ptr %item.type.slot
  %is.array = icmp eq ptr %item.type, %type
  br i1 %is.array, label %look, label %refuse
look:
  %item.element.slot = getelementptr i8, ptr %item, i64 %element.offset
  %item.element = load i64, ptr %item.element.slot
  %spec.element = load i64, ptr %spec
  %same.element = icmp eq i64 %item.element, %spec.element
  %item.rank.slot = getelementptr i8, ptr %item, i64 %rank.offset
  %item.rank = load i32, ptr %item.rank.slot
  %rank.wanted.slot = getelementptr i64, ptr %spec, i64 1
  %rank.wanted = load i64, ptr %rank.wanted.slot
  %rank = sext i32 %item.rank to i64
  %same.rank = icmp eq i64 %rank, %rank.wanted
  %item.flags.slot = getelementptr i8, ptr %item, i64 %flags.offset
  %item.flags = load i32, ptr %item.flags.slot
  %set = and i32 %item.flags, %mask
  %all.set = icmp eq i32 %set, %mask
  %both = and i1 %same.element, %same.rank
  %fits = and i1 %both, %all.set
  %item.extents.slot = getelementptr i8, ptr %item, i64 %extents.offset
  %extents = load ptr, ptr %item.extents.slot
  %spec.extents = getelementptr i64, ptr %spec, i64 2
  br i1 %fits, label %axes.next, label %refuse
axes.next:
  %axis = phi i64 [ 0, %look ], [ %axis.after, %axis.done ]
  %more.axes = icmp ult i64 %axis, %rank
  br i1 %more.axes, label %compare, label %array.done
compare:
  %extent.slot = getelementptr i64, ptr %extents, i64 %axis
  %extent = load i64, ptr %extent.slot
  %want.slot = getelementptr i64, ptr %spec.extents, i64 %axis
  %want = load i64, ptr %want.slot
  %is.symbol = icmp slt i64 %want, 0
  br i1 %is.symbol, label %symbol, label %number
number:
  %equal = icmp eq i64 %extent, %want
  br i1 %equal, label %axis.done, label %refuse
symbol:
  %index = xor i64 %want, -1
  %symbol.slot = getelementptr i64, ptr %symbols, i64 %index
  %known = load i64, ptr %symbol.slot
  %is.new = icmp slt i64 %known, 0
  %is.same = icmp eq i64 %known, %extent
  %agrees = or i1 %is.new, %is.same
  store i64 %extent, ptr %symbol.slot
  br i1 %agrees, label %axis.done, label %refuse
axis.done:
  %axis.after = add i64 %axis, 1
  br label %axes.next
array.done:
  %item.data.slot = getelementptr i8, ptr %item, i64 %data.offset
  %data = load i64, ptr %item.data.slot
  %buffer = getelementptr i64, ptr %buffers, i64 %i
  store i64 %data, ptr %buffer
  %i.after = add i64 %i, 1
  %spec.after = getelementptr i64, ptr %spec.extents, i64 %rank
  br label %arrays.next
run:
  %function = load ptr, ptr %frame
  %constants.slot = getelementptr i64, ptr %frame, i64 1
  %constants = load ptr, ptr %constants.slot
  %workspace.slot = getelementptr i64, ptr %frame, i64 2
  %workspace = load ptr, ptr %workspace.slot
  %give.slot = getelementptr i64, ptr %frame, i64 4
  %give = load ptr, ptr %give.slot
  %take.slot = getelementptr i64, ptr %frame, i64 5
  %take = load ptr, ptr %take.slot
  %thread = call ptr %give()
  %status = call i32 %function(ptr %buffers, ptr %symbols, ptr %workspace, ptr %constants)
  call void %take(ptr %thread)
  %lost.slot.slot = getelementptr i64, ptr %frame, i64 -1
  %lost.slot = load ptr, ptr %lost.slot.slot
  %lost = load atomic i64, ptr %lost.slot acquire, align 8
  %whole = icmp eq i64 %lost, 0
  %told = select i1 %whole, i32 %status, i32 -5
  ret i32 %told
refuse:
  ret i32 -2147483648
}

