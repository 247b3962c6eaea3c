; Values for programs in C, owned by an arena: a list of blocks, freed together. Each block begins with 64 bytes, of which
; the first 8 are the next block. The layout of objects is that of heap.ll; their counts never reach zero.

declare ptr @relay_alloc(i64)
declare void @relay_free(ptr)

define ptr @relay_arena_new() nounwind {
entry:
  %arena = call ptr @relay_alloc(i64 64)
  %none = icmp eq ptr %arena, null
  br i1 %none, label %done, label %empty
empty:
  store ptr null, ptr %arena
  br label %done
done:
  ret ptr %arena
}

define void @relay_arena_free(ptr %arena) nounwind {
entry:
  br label %each
each:
  %block = phi ptr [ %arena, %entry ], [ %next, %free ]
  %end = icmp eq ptr %block, null
  br i1 %end, label %done, label %free
free:
  %next = load ptr, ptr %block
  call void @relay_free(ptr %block)
  br label %each
done:
  ret void
}

; `bytes` of the arena, or null.
define internal ptr @relay_arena_block(ptr %arena, i64 %bytes) nounwind {
entry:
  %whole = add i64 %bytes, 64
  %block = call ptr @relay_alloc(i64 %whole)
  %none = icmp eq ptr %block, null
  br i1 %none, label %fail, label %link
fail:
  ret ptr null
link:
  %next = load ptr, ptr %arena
  store ptr %next, ptr %block
  store ptr %block, ptr %arena
  %memory = getelementptr i8, ptr %block, i64 64
  ret ptr %memory
}

; The arena takes over the chunks of a call's heap: the result lies in them.
define internal void @relay_arena_take(ptr %arena, ptr %heap) nounwind {
entry:
  %list = getelementptr i8, ptr %heap, i64 32
  %first = load ptr, ptr %list
  %none = icmp eq ptr %first, null
  br i1 %none, label %done, label %seek
seek:
  %chunk = phi ptr [ %first, %entry ], [ %next, %seek ]
  %next = load ptr, ptr %chunk
  %last = icmp eq ptr %next, null
  br i1 %last, label %link, label %seek
link:
  %others = load ptr, ptr %arena
  store ptr %others, ptr %chunk
  store ptr %first, ptr %arena
  br label %done
done:
  ret void
}

define ptr @relay_tensor(ptr %arena, i32 %kind, ptr %data, i32 %axes, ptr %extents) nounwind {
entry:
  %rank = zext i32 %axes to i64
  %extent.bytes = shl i64 %rank, 3
  %bytes = add i64 %extent.bytes, 40
  %object = call ptr @relay_arena_block(ptr %arena, i64 %bytes)
  %none = icmp eq ptr %object, null
  br i1 %none, label %fail, label %fill
fail:
  ret ptr null
fill:
  call void @relay_value_header(ptr %object, i32 %kind, i32 1)
  %owner.slot = getelementptr i8, ptr %object, i64 24
  store i64 1, ptr %owner.slot
  %data.slot = getelementptr i8, ptr %object, i64 32
  store ptr %data, ptr %data.slot
  %extents.slot = getelementptr i8, ptr %object, i64 40
  call void @llvm.memcpy.p0.p0.i64(ptr %extents.slot, ptr %extents, i64 %extent.bytes, i1 false)
  ret ptr %object
}

define ptr @relay_cell(ptr %arena, i32 %kind, i32 %count, ptr %fields) nounwind {
entry:
  %wide = zext i32 %kind to i64
  %no.fields = icmp eq i32 %count, 0
  br i1 %no.fields, label %immediate, label %look
immediate:
  %shifted = shl i64 %wide, 1
  %odd = add i64 %shifted, 1
  %word = inttoptr i64 %odd to ptr
  ret ptr %word
look:
  %total = zext i32 %count to i64
  br label %each
each:
  %index = phi i64 [ 0, %look ], [ %index.after, %good ]
  %at = getelementptr ptr, ptr %fields, i64 %index
  %field = load ptr, ptr %at
  %missing = icmp eq ptr %field, null
  br i1 %missing, label %fail, label %good
good:
  %index.after = add i64 %index, 1
  %more = icmp ult i64 %index.after, %total
  br i1 %more, label %each, label %make
fail:
  ret ptr null
make:
  %field.bytes = shl i64 %total, 3
  %bytes = add i64 %field.bytes, 24
  %object = call ptr @relay_arena_block(ptr %arena, i64 %bytes)
  %none = icmp eq ptr %object, null
  br i1 %none, label %fail, label %fill
fill:
  call void @relay_value_header(ptr %object, i32 %kind, i32 %count)
  %slot = getelementptr i8, ptr %object, i64 24
  call void @llvm.memcpy.p0.p0.i64(ptr %slot, ptr %fields, i64 %field.bytes, i1 false)
  ret ptr %object
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @relay_value_header(ptr %object, i32 %kind, i32 %fields) nounwind {
  store i64 1152921504606846976, ptr %object
  %kind.slot = getelementptr i8, ptr %object, i64 8
  store i32 %kind, ptr %kind.slot
  %fields.slot = getelementptr i8, ptr %object, i64 12
  store i32 %fields, ptr %fields.slot
  %class.slot = getelementptr i8, ptr %object, i64 16
  store i64 0, ptr %class.slot
  ret void
}

define i32 @relay_kind(ptr %value) nounwind {
entry:
  %word = ptrtoint ptr %value to i64
  %odd = trunc i64 %word to i1
  br i1 %odd, label %immediate, label %object
immediate:
  %shifted = lshr i64 %word, 1
  %small = trunc i64 %shifted to i32
  ret i32 %small
object:
  %slot = getelementptr i8, ptr %value, i64 8
  %kind = load i32, ptr %slot
  ret i32 %kind
}

define ptr @relay_field(ptr %value, i32 %position) nounwind {
  %index = zext i32 %position to i64
  %fields = getelementptr i8, ptr %value, i64 24
  %slot = getelementptr ptr, ptr %fields, i64 %index
  %field = load ptr, ptr %slot
  ret ptr %field
}

define ptr @relay_data(ptr %value) nounwind {
  %slot = getelementptr i8, ptr %value, i64 32
  %data = load ptr, ptr %slot
  ret ptr %data
}

define ptr @relay_extents(ptr %value) nounwind {
  %extents = getelementptr i8, ptr %value, i64 40
  ret ptr %extents
}
