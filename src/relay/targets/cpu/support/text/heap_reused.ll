; Made of heap/heap.c by `python -m relay.targets.cpu.support.generate`.

%struct.move = type { ptr, ptr, i64 }

define noundef i64 @relay_heap_misuses() nounwind {
entry:
  ret i64 0
}

define internal void @relay_heap_fail(ptr initializes((48, 52)) %heap, i32 %status) cold noinline noreturn nounwind {
entry:
  %status1 = getelementptr inbounds nuw i8, ptr %heap, i64 48
  store i32 %status, ptr %status1, align 8
  %failure_target = getelementptr inbounds nuw i8, ptr %heap, i64 448
  tail call void @longjmp(ptr nonnull %failure_target, i32 1) noreturn nounwind
  unreachable
}

declare void @longjmp(ptr, i32) noreturn

define internal noundef ptr @relay_heap_new(ptr %heap, i64 %bytes, i32 %label, i32 %field_count) alwaysinline nounwind {
entry:
  %cmp.i = icmp ult i64 %bytes, 1025
  br i1 %cmp.i, label %if.then.i, label %if.end.i

if.then.i:
  %sub.i = add nuw nsw i64 %bytes, 63
  %div8.i = lshr i64 %sub.i, 6
  br label %class_of.exit

if.end.i:
  %sub1.i = add i64 %bytes, -1
  %0 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i, i1 true)
  %sub2.i = sub nuw nsw i64 70, %0
  %cond.i = tail call i64 @llvm.umin.i64(i64 %sub2.i, i64 47)
  br label %class_of.exit

class_of.exit:
  %retval.0.i = phi i64 [ %div8.i, %if.then.i ], [ %cond.i, %if.end.i ]
  %free_blocks = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %free_blocks, i64 %retval.0.i
  %1 = load ptr, ptr %arrayidx, align 8
  %cmp = icmp eq ptr %1, null
  br i1 %cmp, label %if.then, label %if.else

if.then:
  %call1 = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i)
  br label %if.end

if.else:
  %2 = load ptr, ptr %1, align 8
  store ptr %2, ptr %arrayidx, align 8
  br label %if.end

if.end:
  %object.0 = phi ptr [ %call1, %if.then ], [ %1, %if.else ]
  store i64 1, ptr %object.0, align 8
  %3 = getelementptr inbounds nuw i8, ptr %object.0, i64 8
  store i32 %label, ptr %3, align 8
  %field_count5 = getelementptr inbounds nuw i8, ptr %object.0, i64 12
  store i32 %field_count, ptr %field_count5, align 4
  %block_class6 = getelementptr inbounds nuw i8, ptr %object.0, i64 16
  store i64 %retval.0.i, ptr %block_class6, align 8
  %alive = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %4 = load i64, ptr %alive, align 8
  %inc = add nsw i64 %4, 1
  store i64 %inc, ptr %alive, align 8
  ret ptr %object.0
}

define internal fastcc ptr @relay_heap_more(ptr %heap, i64 range(i64 0, 71) %block_class) noinline nounwind {
entry:
  %cmp.i = icmp samesign ult i64 %block_class, 17
  %mul.i = shl nuw nsw i64 %block_class, 6
  %sub.i = add nsw i64 %block_class, -6
  %shl.i = shl nuw i64 1, %sub.i
  %cond.i = select i1 %cmp.i, i64 %mul.i, i64 %shl.i
  %block_count = getelementptr inbounds nuw i8, ptr %heap, i64 1008
  %0 = load i64, ptr %block_count, align 8
  %inc = add nsw i64 %0, 1
  store i64 %inc, ptr %block_count, align 8
  %end = getelementptr inbounds nuw i8, ptr %heap, i64 24
  %1 = load i64, ptr %end, align 8
  %cursor = getelementptr inbounds nuw i8, ptr %heap, i64 16
  %2 = load i64, ptr %cursor, align 8
  %sub = sub i64 %1, %2
  %cmp = icmp ugt i64 %cond.i, %sub
  br i1 %cmp, label %if.then, label %if.end11

if.then:
  %cmp1 = icmp eq i64 %block_class, 47
  br i1 %cmp1, label %if.then2, label %if.end

if.then2:
  tail call void @relay_heap_fail(ptr nonnull %heap, i32 -1) cold noreturn
  unreachable

if.end:
  %cmp3 = icmp ugt i64 %cond.i, 16384
  br i1 %cmp3, label %if.then4, label %if.end6

if.then4:
  %call5 = tail call fastcc ptr @relay_heap_chunk(ptr nonnull %heap, i64 %cond.i)
  br label %cleanup

if.end6:
  %call7 = tail call fastcc ptr @relay_heap_chunk(ptr nonnull %heap, i64 131008)
  %3 = ptrtoint ptr %call7 to i64
  %add = add i64 %3, 131008
  store i64 %add, ptr %end, align 8
  br label %if.end11

if.end11:
  %4 = phi i64 [ %3, %if.end6 ], [ %2, %entry ]
  %5 = inttoptr i64 %4 to ptr
  %add14 = add i64 %4, %cond.i
  store i64 %add14, ptr %cursor, align 8
  br label %cleanup

cleanup:
  %retval.0 = phi ptr [ %call5, %if.then4 ], [ %5, %if.end11 ]
  ret ptr %retval.0
}

define internal ptr @relay_heap_arena(ptr %heap, i64 %bytes) noinline nounwind {
entry:
  %arena_bytes = getelementptr inbounds nuw i8, ptr %heap, i64 1000
  %0 = load i64, ptr %arena_bytes, align 8
  %cmp = icmp ugt i64 %bytes, %0
  br i1 %cmp, label %if.then, label %entry.if.end_crit_edge

entry.if.end_crit_edge:
  %arena5.phi.trans.insert = getelementptr inbounds nuw i8, ptr %heap, i64 992
  %.pre = load ptr, ptr %arena5.phi.trans.insert, align 8
  br label %if.end

if.then:
  %cond = tail call i64 @llvm.umax.i64(i64 %bytes, i64 2048)
  %sub1.i = add i64 %cond, -1
  %1 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i, i1 true)
  %sub2.i = sub nuw nsw i64 70, %1
  %cond.i = tail call i64 @llvm.umin.i64(i64 %sub2.i, i64 47)
  %call2 = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %cond.i)
  %arena = getelementptr inbounds nuw i8, ptr %heap, i64 992
  store ptr %call2, ptr %arena, align 8
  %sub.i = add nsw i64 %cond.i, -6
  %shl.i = shl nuw nsw i64 1, %sub.i
  store i64 %shl.i, ptr %arena_bytes, align 8
  br label %if.end

if.end:
  %2 = phi ptr [ %.pre, %entry.if.end_crit_edge ], [ %call2, %if.then ]
  ret ptr %2
}

define internal noundef ptr @relay_heap_tensor(ptr %heap, i64 %bytes, i64 %rank, i32 %label) alwaysinline nounwind {
entry:
  %cmp = icmp ult i64 %bytes, 64
  %conv.neg = select i1 %cmp, i64 -16, i64 -64
  %conv = select i1 %cmp, i64 16, i64 64
  %mul = shl i64 %rank, 3
  %add1 = add i64 %mul, 39
  %sub = add i64 %add1, %conv
  %and = and i64 %sub, %conv.neg
  %add3 = add i64 %and, %bytes
  %cmp.i10 = icmp ult i64 %add3, 1025
  br i1 %cmp.i10, label %if.then.i11, label %if.end.i

if.then.i11:
  %sub.i = add nuw nsw i64 %add3, 63
  %div8.i = lshr i64 %sub.i, 6
  br label %class_of.exit

if.end.i:
  %sub1.i = add i64 %add3, -1
  %0 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i, i1 true)
  %sub2.i = sub nuw nsw i64 70, %0
  %cond.i = tail call i64 @llvm.umin.i64(i64 %sub2.i, i64 47)
  br label %class_of.exit

class_of.exit:
  %retval.0.i = phi i64 [ %div8.i, %if.then.i11 ], [ %cond.i, %if.end.i ]
  %free_blocks.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i, i64 %retval.0.i
  %1 = load ptr, ptr %arrayidx.i, align 8
  %cmp.i = icmp eq ptr %1, null
  br i1 %cmp.i, label %if.then.i, label %if.else.i

if.then.i:
  %call1.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i)
  br label %relay_heap_new.exit

if.else.i:
  %2 = load ptr, ptr %1, align 8
  store ptr %2, ptr %arrayidx.i, align 8
  br label %relay_heap_new.exit

relay_heap_new.exit:
  %object.0.i = phi ptr [ %call1.i, %if.then.i ], [ %1, %if.else.i ]
  store i64 1, ptr %object.0.i, align 8
  %3 = getelementptr inbounds nuw i8, ptr %object.0.i, i64 8
  store i32 %label, ptr %3, align 8
  %field_count5.i = getelementptr inbounds nuw i8, ptr %object.0.i, i64 12
  store i32 1, ptr %field_count5.i, align 4
  %block_class6.i = getelementptr inbounds nuw i8, ptr %object.0.i, i64 16
  store i64 %retval.0.i, ptr %block_class6.i, align 8
  %alive.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %4 = load i64, ptr %alive.i, align 8
  %inc.i = add nsw i64 %4, 1
  store i64 %inc.i, ptr %alive.i, align 8
  %owner = getelementptr inbounds nuw i8, ptr %object.0.i, i64 24
  store i64 1, ptr %owner, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %object.0.i, i64 %and
  %data = getelementptr inbounds nuw i8, ptr %object.0.i, i64 32
  store ptr %add.ptr, ptr %data, align 8
  ret ptr %object.0.i
}

define internal noundef ptr @relay_heap_tensor_elsewhere(ptr %heap, i64 %bytes, i64 %rank, i32 %label) alwaysinline nounwind {
entry:
  %cmp.i = icmp ult i64 %bytes, 64
  %conv.neg.i = select i1 %cmp.i, i64 -16, i64 -64
  %conv.i = select i1 %cmp.i, i64 16, i64 64
  %mul.i = shl i64 %rank, 3
  %add1.i = add i64 %mul.i, 39
  %sub.i = add i64 %add1.i, %conv.i
  %and.i = and i64 %sub.i, %conv.neg.i
  %add3.i = add i64 %and.i, %bytes
  %cmp.i10.i = icmp ult i64 %add3.i, 1025
  br i1 %cmp.i10.i, label %if.then.i11.i, label %if.end.i.i

if.then.i11.i:
  %sub.i.i = add nuw nsw i64 %add3.i, 63
  %div8.i.i = lshr i64 %sub.i.i, 6
  br label %class_of.exit.i

if.end.i.i:
  %sub1.i.i = add i64 %add3.i, -1
  %0 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i.i, i1 true)
  %sub2.i.i = sub nuw nsw i64 70, %0
  %cond.i.i = tail call i64 @llvm.umin.i64(i64 %sub2.i.i, i64 47)
  br label %class_of.exit.i

class_of.exit.i:
  %retval.0.i.i = phi i64 [ %div8.i.i, %if.then.i11.i ], [ %cond.i.i, %if.end.i.i ]
  %free_blocks.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i.i, i64 %retval.0.i.i
  %1 = load ptr, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp eq ptr %1, null
  br i1 %cmp.i.i, label %if.then.i.i, label %if.else.i.i

if.then.i.i:
  %call1.i.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i.i)
  br label %relay_heap_tensor.exit

if.else.i.i:
  %2 = load ptr, ptr %1, align 8
  store ptr %2, ptr %arrayidx.i.i, align 8
  br label %relay_heap_tensor.exit

relay_heap_tensor.exit:
  %object.0.i.i = phi ptr [ %call1.i.i, %if.then.i.i ], [ %1, %if.else.i.i ]
  store i64 1, ptr %object.0.i.i, align 8
  %3 = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 8
  store i32 %label, ptr %3, align 8
  %field_count5.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 12
  store i32 1, ptr %field_count5.i.i, align 4
  %block_class6.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 16
  store i64 %retval.0.i.i, ptr %block_class6.i.i, align 8
  %alive.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %4 = load i64, ptr %alive.i.i, align 8
  %inc.i.i = add nsw i64 %4, 1
  store i64 %inc.i.i, ptr %alive.i.i, align 8
  %owner.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 24
  store i64 1, ptr %owner.i, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 %and.i
  %data.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 32
  store ptr %add.ptr.i, ptr %data.i, align 8
  store i32 0, ptr %field_count5.i.i, align 4
  ret ptr %object.0.i.i
}

define internal noundef ptr @relay_heap_tensor_at(ptr %heap, i64 %bytes, i64 %rank, i32 %label, i64 %output) alwaysinline nounwind {
entry:
  %outputs = getelementptr inbounds nuw i8, ptr %heap, i64 952
  %0 = load ptr, ptr %outputs, align 8
  %arrayidx = getelementptr inbounds nuw %struct.move, ptr %0, i64 %output
  %cmp = icmp eq ptr %0, null
  br i1 %cmp, label %if.then, label %lor.lhs.false

lor.lhs.false:
  %from = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %1 = load ptr, ptr %from, align 8
  %cmp2.not = icmp eq ptr %1, null
  br i1 %cmp2.not, label %lor.lhs.false3, label %if.then

lor.lhs.false3:
  %bytes4 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %2 = load i64, ptr %bytes4, align 8
  %cmp5.not = icmp eq i64 %2, %bytes
  br i1 %cmp5.not, label %if.end, label %if.then

if.then:
  %cmp.i23 = icmp ult i64 %bytes, 64
  %conv.neg.i = select i1 %cmp.i23, i64 -16, i64 -64
  %conv.i = select i1 %cmp.i23, i64 16, i64 64
  %mul.i = shl i64 %rank, 3
  %add1.i = add i64 %mul.i, 39
  %sub.i24 = add i64 %add1.i, %conv.i
  %and.i = and i64 %sub.i24, %conv.neg.i
  %add3.i = add i64 %and.i, %bytes
  %cmp.i10.i = icmp ult i64 %add3.i, 1025
  br i1 %cmp.i10.i, label %if.then.i11.i, label %if.end.i.i

if.then.i11.i:
  %sub.i.i = add nuw nsw i64 %add3.i, 63
  %div8.i.i = lshr i64 %sub.i.i, 6
  br label %class_of.exit.i

if.end.i.i:
  %sub1.i.i = add i64 %add3.i, -1
  %3 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i.i, i1 true)
  %sub2.i.i = sub nuw nsw i64 70, %3
  %cond.i.i = tail call i64 @llvm.umin.i64(i64 %sub2.i.i, i64 47)
  br label %class_of.exit.i

class_of.exit.i:
  %retval.0.i.i = phi i64 [ %div8.i.i, %if.then.i11.i ], [ %cond.i.i, %if.end.i.i ]
  %free_blocks.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i.i, i64 %retval.0.i.i
  %4 = load ptr, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp eq ptr %4, null
  br i1 %cmp.i.i, label %if.then.i.i, label %if.else.i.i

if.then.i.i:
  %call1.i.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i.i)
  br label %relay_heap_tensor.exit

if.else.i.i:
  %5 = load ptr, ptr %4, align 8
  store ptr %5, ptr %arrayidx.i.i, align 8
  br label %relay_heap_tensor.exit

relay_heap_tensor.exit:
  %object.0.i.i = phi ptr [ %call1.i.i, %if.then.i.i ], [ %4, %if.else.i.i ]
  store i64 1, ptr %object.0.i.i, align 8
  %6 = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 8
  store i32 %label, ptr %6, align 8
  %field_count5.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 12
  store i32 1, ptr %field_count5.i.i, align 4
  %block_class6.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 16
  store i64 %retval.0.i.i, ptr %block_class6.i.i, align 8
  %alive.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %7 = load i64, ptr %alive.i.i, align 8
  %inc.i.i = add nsw i64 %7, 1
  store i64 %inc.i.i, ptr %alive.i.i, align 8
  %owner.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 24
  store i64 1, ptr %owner.i, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 %and.i
  %data.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 32
  store ptr %add.ptr.i, ptr %data.i, align 8
  br label %cleanup

if.end:
  %mul = shl i64 %rank, 3
  %add = add i64 %mul, 40
  %cmp.i21 = icmp ult i64 %add, 1025
  br i1 %cmp.i21, label %if.then.i22, label %if.end.i

if.then.i22:
  %sub.i = add nsw i64 %mul, 103
  %div8.i = lshr i64 %sub.i, 6
  br label %class_of.exit

if.end.i:
  %sub1.i = add nuw i64 %mul, 39
  %8 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i, i1 true)
  %sub2.i = sub nuw nsw i64 70, %8
  %cond.i = tail call i64 @llvm.umin.i64(i64 %sub2.i, i64 47)
  br label %class_of.exit

class_of.exit:
  %retval.0.i = phi i64 [ %div8.i, %if.then.i22 ], [ %cond.i, %if.end.i ]
  %free_blocks.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i, i64 %retval.0.i
  %9 = load ptr, ptr %arrayidx.i, align 8
  %cmp.i = icmp eq ptr %9, null
  br i1 %cmp.i, label %if.then.i, label %if.else.i

if.then.i:
  %call1.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i)
  br label %relay_heap_new.exit

if.else.i:
  %10 = load ptr, ptr %9, align 8
  store ptr %10, ptr %arrayidx.i, align 8
  br label %relay_heap_new.exit

relay_heap_new.exit:
  %object.0.i = phi ptr [ %call1.i, %if.then.i ], [ %9, %if.else.i ]
  store i64 1, ptr %object.0.i, align 8
  %11 = getelementptr inbounds nuw i8, ptr %object.0.i, i64 8
  store i32 %label, ptr %11, align 8
  %field_count5.i = getelementptr inbounds nuw i8, ptr %object.0.i, i64 12
  store i32 1, ptr %field_count5.i, align 4
  %block_class6.i = getelementptr inbounds nuw i8, ptr %object.0.i, i64 16
  store i64 %retval.0.i, ptr %block_class6.i, align 8
  %alive.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %12 = load i64, ptr %alive.i, align 8
  %inc.i = add nsw i64 %12, 1
  store i64 %inc.i, ptr %alive.i, align 8
  %owner = getelementptr inbounds nuw i8, ptr %object.0.i, i64 24
  store i64 1, ptr %owner, align 8
  %13 = load ptr, ptr %arrayidx, align 8
  %data = getelementptr inbounds nuw i8, ptr %object.0.i, i64 32
  store ptr %13, ptr %data, align 8
  store ptr %13, ptr %from, align 8
  br label %cleanup

cleanup:
  %retval.0 = phi ptr [ %object.0.i.i, %relay_heap_tensor.exit ], [ %object.0.i, %relay_heap_new.exit ]
  ret ptr %retval.0
}

define internal noundef ptr @relay_heap_tensor_over(ptr %heap, i64 %bytes, i64 %rank, i32 %label, i64 %over, i64 %cell) alwaysinline nounwind {
entry:
  %and.i9 = and i64 %cell, 1
  %tobool.i.not = icmp eq i64 %and.i9, 0
  br i1 %tobool.i.not, label %land.rhs.i, label %land.end.i

land.rhs.i:
  %0 = inttoptr i64 %cell to ptr
  %fields.i = getelementptr inbounds nuw i8, ptr %0, i64 24
  %1 = load i64, ptr %fields.i, align 8
  %cmp.i4 = icmp eq i64 %1, %over
  %2 = select i1 %cmp.i4, i64 2, i64 1
  br label %land.end.i

land.end.i:
  %land.ext.i = phi i64 [ 1, %entry ], [ %2, %land.rhs.i ]
  %3 = inttoptr i64 %over to ptr
  %4 = load i64, ptr %3, align 8
  %cmp.i513 = icmp eq i64 %4, %land.ext.i
  br i1 %cmp.i513, label %land.rhs.i6, label %cond.false

land.rhs.i6:
  %tensor.addr.0.i14 = phi ptr [ %6, %while.body.i ], [ %3, %land.end.i ]
  %owner.i7 = getelementptr inbounds nuw i8, ptr %tensor.addr.0.i14, i64 24
  %5 = load i64, ptr %owner.i7, align 8
  %and.i10 = and i64 %5, 1
  %tobool.i11.not = icmp eq i64 %and.i10, 0
  br i1 %tobool.i11.not, label %while.body.i, label %is_held_by.exit

while.body.i:
  %6 = inttoptr i64 %5 to ptr
  %7 = load i64, ptr %6, align 8
  %cmp.i5 = icmp eq i64 %7, 1
  br i1 %cmp.i5, label %land.rhs.i6, label %cond.false

is_held_by.exit:
  %cmp6.i = icmp eq i64 %5, 1
  br i1 %cmp6.i, label %cond.true, label %cond.false

cond.true:
  %inc.i = add nuw nsw i64 %land.ext.i, 1
  store i64 %inc.i, ptr %3, align 8
  %8 = getelementptr inbounds nuw i8, ptr %3, i64 8
  store i32 %label, ptr %8, align 8
  br label %cond.end

cond.false:
  %cmp.i = icmp ult i64 %bytes, 64
  %conv.neg.i = select i1 %cmp.i, i64 -16, i64 -64
  %conv.i = select i1 %cmp.i, i64 16, i64 64
  %mul.i = shl i64 %rank, 3
  %add1.i = add i64 %mul.i, 39
  %sub.i = add i64 %add1.i, %conv.i
  %and.i = and i64 %sub.i, %conv.neg.i
  %add3.i = add i64 %and.i, %bytes
  %cmp.i10.i = icmp ult i64 %add3.i, 1025
  br i1 %cmp.i10.i, label %if.then.i11.i, label %if.end.i.i

if.then.i11.i:
  %sub.i.i = add nuw nsw i64 %add3.i, 63
  %div8.i.i = lshr i64 %sub.i.i, 6
  br label %class_of.exit.i

if.end.i.i:
  %sub1.i.i = add i64 %add3.i, -1
  %9 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i.i, i1 true)
  %sub2.i.i = sub nuw nsw i64 70, %9
  %cond.i.i = tail call i64 @llvm.umin.i64(i64 %sub2.i.i, i64 47)
  br label %class_of.exit.i

class_of.exit.i:
  %retval.0.i.i = phi i64 [ %div8.i.i, %if.then.i11.i ], [ %cond.i.i, %if.end.i.i ]
  %free_blocks.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i.i, i64 %retval.0.i.i
  %10 = load ptr, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp eq ptr %10, null
  br i1 %cmp.i.i, label %if.then.i.i, label %if.else.i.i

if.then.i.i:
  %call1.i.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i.i)
  br label %relay_heap_tensor.exit

if.else.i.i:
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %arrayidx.i.i, align 8
  br label %relay_heap_tensor.exit

relay_heap_tensor.exit:
  %object.0.i.i = phi ptr [ %call1.i.i, %if.then.i.i ], [ %10, %if.else.i.i ]
  store i64 1, ptr %object.0.i.i, align 8
  %12 = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 8
  store i32 %label, ptr %12, align 8
  %field_count5.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 12
  store i32 1, ptr %field_count5.i.i, align 4
  %block_class6.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 16
  store i64 %retval.0.i.i, ptr %block_class6.i.i, align 8
  %alive.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %13 = load i64, ptr %alive.i.i, align 8
  %inc.i.i = add nsw i64 %13, 1
  store i64 %inc.i.i, ptr %alive.i.i, align 8
  %owner.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 24
  store i64 1, ptr %owner.i, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 %and.i
  %data.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 32
  store ptr %add.ptr.i, ptr %data.i, align 8
  br label %cond.end

cond.end:
  %cond = phi ptr [ %3, %cond.true ], [ %object.0.i.i, %relay_heap_tensor.exit ]
  ret ptr %cond
}

define internal noundef ptr @relay_heap_tensor_over_or_at(ptr %heap, i64 %bytes, i64 %rank, i32 %label, i64 %over, i64 %cell, i64 %output) alwaysinline nounwind {
entry:
  %and.i = and i64 %cell, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %land.rhs.i, label %land.end.i

land.rhs.i:
  %0 = inttoptr i64 %cell to ptr
  %fields.i = getelementptr inbounds nuw i8, ptr %0, i64 24
  %1 = load i64, ptr %fields.i, align 8
  %cmp.i4 = icmp eq i64 %1, %over
  %2 = select i1 %cmp.i4, i64 2, i64 1
  br label %land.end.i

land.end.i:
  %land.ext.i = phi i64 [ 1, %entry ], [ %2, %land.rhs.i ]
  %3 = inttoptr i64 %over to ptr
  %4 = load i64, ptr %3, align 8
  %cmp.i613 = icmp eq i64 %4, %land.ext.i
  br i1 %cmp.i613, label %land.rhs.i7, label %if.end

land.rhs.i7:
  %tensor.addr.0.i14 = phi ptr [ %6, %while.body.i ], [ %3, %land.end.i ]
  %owner.i8 = getelementptr inbounds nuw i8, ptr %tensor.addr.0.i14, i64 24
  %5 = load i64, ptr %owner.i8, align 8
  %and.i10 = and i64 %5, 1
  %tobool.i11.not = icmp eq i64 %and.i10, 0
  br i1 %tobool.i11.not, label %while.body.i, label %is_held_by.exit

while.body.i:
  %6 = inttoptr i64 %5 to ptr
  %7 = load i64, ptr %6, align 8
  %cmp.i6 = icmp eq i64 %7, 1
  br i1 %cmp.i6, label %land.rhs.i7, label %if.end

is_held_by.exit:
  %cmp6.i = icmp eq i64 %5, 1
  br i1 %cmp6.i, label %if.then, label %if.end

if.then:
  %inc.i = add nuw nsw i64 %land.ext.i, 1
  store i64 %inc.i, ptr %3, align 8
  %8 = getelementptr inbounds nuw i8, ptr %3, i64 8
  store i32 %label, ptr %8, align 8
  br label %return

if.end:
  %outputs.i = getelementptr inbounds nuw i8, ptr %heap, i64 952
  %9 = load ptr, ptr %outputs.i, align 8
  %arrayidx.i = getelementptr inbounds nuw %struct.move, ptr %9, i64 %output
  %cmp.i = icmp eq ptr %9, null
  br i1 %cmp.i, label %if.then.i, label %lor.lhs.false.i

lor.lhs.false.i:
  %from.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %10 = load ptr, ptr %from.i, align 8
  %cmp2.not.i = icmp eq ptr %10, null
  br i1 %cmp2.not.i, label %lor.lhs.false3.i, label %if.then.i

lor.lhs.false3.i:
  %bytes4.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  %11 = load i64, ptr %bytes4.i, align 8
  %cmp5.not.i = icmp eq i64 %11, %bytes
  br i1 %cmp5.not.i, label %if.end.i, label %if.then.i

if.then.i:
  %cmp.i23.i = icmp ult i64 %bytes, 64
  %conv.neg.i.i = select i1 %cmp.i23.i, i64 -16, i64 -64
  %conv.i.i = select i1 %cmp.i23.i, i64 16, i64 64
  %mul.i.i = shl i64 %rank, 3
  %add1.i.i = add i64 %mul.i.i, 39
  %sub.i24.i = add i64 %add1.i.i, %conv.i.i
  %and.i.i = and i64 %sub.i24.i, %conv.neg.i.i
  %add3.i.i = add i64 %and.i.i, %bytes
  %cmp.i10.i.i = icmp ult i64 %add3.i.i, 1025
  br i1 %cmp.i10.i.i, label %if.then.i11.i.i, label %if.end.i.i.i

if.then.i11.i.i:
  %sub.i.i.i = add nuw nsw i64 %add3.i.i, 63
  %div8.i.i.i = lshr i64 %sub.i.i.i, 6
  br label %class_of.exit.i.i

if.end.i.i.i:
  %sub1.i.i.i = add i64 %add3.i.i, -1
  %12 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i.i.i, i1 true)
  %sub2.i.i.i = sub nuw nsw i64 70, %12
  %cond.i.i.i = tail call i64 @llvm.umin.i64(i64 %sub2.i.i.i, i64 47)
  br label %class_of.exit.i.i

class_of.exit.i.i:
  %retval.0.i.i.i = phi i64 [ %div8.i.i.i, %if.then.i11.i.i ], [ %cond.i.i.i, %if.end.i.i.i ]
  %free_blocks.i.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i.i.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i.i.i, i64 %retval.0.i.i.i
  %13 = load ptr, ptr %arrayidx.i.i.i, align 8
  %cmp.i.i.i = icmp eq ptr %13, null
  br i1 %cmp.i.i.i, label %if.then.i.i.i, label %if.else.i.i.i

if.then.i.i.i:
  %call1.i.i.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i.i.i)
  br label %relay_heap_tensor.exit.i

if.else.i.i.i:
  %14 = load ptr, ptr %13, align 8
  store ptr %14, ptr %arrayidx.i.i.i, align 8
  br label %relay_heap_tensor.exit.i

relay_heap_tensor.exit.i:
  %object.0.i.i.i = phi ptr [ %call1.i.i.i, %if.then.i.i.i ], [ %13, %if.else.i.i.i ]
  store i64 1, ptr %object.0.i.i.i, align 8
  %15 = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 8
  store i32 %label, ptr %15, align 8
  %field_count5.i.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 12
  store i32 1, ptr %field_count5.i.i.i, align 4
  %block_class6.i.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 16
  store i64 %retval.0.i.i.i, ptr %block_class6.i.i.i, align 8
  %alive.i.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %16 = load i64, ptr %alive.i.i.i, align 8
  %inc.i.i.i = add nsw i64 %16, 1
  store i64 %inc.i.i.i, ptr %alive.i.i.i, align 8
  %owner.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 24
  store i64 1, ptr %owner.i.i, align 8
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 %and.i.i
  %data.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i.i, i64 32
  store ptr %add.ptr.i.i, ptr %data.i.i, align 8
  br label %return

if.end.i:
  %mul.i = shl i64 %rank, 3
  %add.i = add i64 %mul.i, 40
  %cmp.i21.i = icmp ult i64 %add.i, 1025
  br i1 %cmp.i21.i, label %if.then.i22.i, label %if.end.i.i

if.then.i22.i:
  %sub.i.i = add nsw i64 %mul.i, 103
  %div8.i.i = lshr i64 %sub.i.i, 6
  br label %class_of.exit.i

if.end.i.i:
  %sub1.i.i = add nuw i64 %mul.i, 39
  %17 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %sub1.i.i, i1 true)
  %sub2.i.i = sub nuw nsw i64 70, %17
  %cond.i.i = tail call i64 @llvm.umin.i64(i64 %sub2.i.i, i64 47)
  br label %class_of.exit.i

class_of.exit.i:
  %retval.0.i.i = phi i64 [ %div8.i.i, %if.then.i22.i ], [ %cond.i.i, %if.end.i.i ]
  %free_blocks.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %free_blocks.i.i, i64 %retval.0.i.i
  %18 = load ptr, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp eq ptr %18, null
  br i1 %cmp.i.i, label %if.then.i.i, label %if.else.i.i

if.then.i.i:
  %call1.i.i = tail call fastcc ptr @relay_heap_more(ptr nonnull %heap, i64 %retval.0.i.i)
  br label %relay_heap_new.exit.i

if.else.i.i:
  %19 = load ptr, ptr %18, align 8
  store ptr %19, ptr %arrayidx.i.i, align 8
  br label %relay_heap_new.exit.i

relay_heap_new.exit.i:
  %object.0.i.i = phi ptr [ %call1.i.i, %if.then.i.i ], [ %18, %if.else.i.i ]
  store i64 1, ptr %object.0.i.i, align 8
  %20 = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 8
  store i32 %label, ptr %20, align 8
  %field_count5.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 12
  store i32 1, ptr %field_count5.i.i, align 4
  %block_class6.i.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 16
  store i64 %retval.0.i.i, ptr %block_class6.i.i, align 8
  %alive.i.i = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %21 = load i64, ptr %alive.i.i, align 8
  %inc.i.i = add nsw i64 %21, 1
  store i64 %inc.i.i, ptr %alive.i.i, align 8
  %owner.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 24
  store i64 1, ptr %owner.i, align 8
  %22 = load ptr, ptr %arrayidx.i, align 8
  %data.i = getelementptr inbounds nuw i8, ptr %object.0.i.i, i64 32
  store ptr %22, ptr %data.i, align 8
  store ptr %22, ptr %from.i, align 8
  br label %return

return:
  %retval.0 = phi ptr [ %3, %if.then ], [ %object.0.i.i.i, %relay_heap_tensor.exit.i ], [ %object.0.i.i, %relay_heap_new.exit.i ]
  ret ptr %retval.0
}

define internal void @relay_heap_retain(i64 %value) alwaysinline nounwind {
entry:
  %and.i = and i64 %value, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %if.end, label %return

if.end:
  %0 = inttoptr i64 %value to ptr
  %1 = load i64, ptr %0, align 8
  %inc = add nsw i64 %1, 1
  store i64 %inc, ptr %0, align 8
  br label %return

return:
  ret void
}

define internal void @relay_heap_release(ptr captures(none) %heap, i64 %value) alwaysinline nounwind {
entry:
  %and.i = and i64 %value, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %land.lhs.true, label %if.end

land.lhs.true:
  %0 = inttoptr i64 %value to ptr
  %1 = load i64, ptr %0, align 8
  %dec.i = add nsw i64 %1, -1
  store i64 %dec.i, ptr %0, align 8
  %cmp.i = icmp eq i64 %dec.i, 0
  br i1 %cmp.i, label %if.then, label %if.end

if.then:
  tail call fastcc void @relay_heap_bury(ptr %heap, ptr nonnull %0)
  br label %if.end

if.end:
  ret void
}

define internal fastcc void @relay_heap_bury(ptr captures(none) %heap, ptr initializes((0, 8)) %object) noinline nounwind {
entry:
  store ptr null, ptr %object, align 8
  %free_blocks.i = getelementptr inbounds nuw i8, ptr %heap, i64 64
  %alive = getelementptr inbounds nuw i8, ptr %heap, i64 40
  br label %while.body

while.body:
  %object.addr.010 = phi ptr [ %object, %entry ], [ %list.addr.0.i.lcssa, %release_fields.exit ]
  %0 = load ptr, ptr %object.addr.010, align 8
  %field_count.i = getelementptr inbounds nuw i8, ptr %object.addr.010, i64 12
  %1 = load i32, ptr %field_count.i, align 4
  %conv.i = zext i32 %1 to i64
  %cmp.i = icmp eq i32 %1, 0
  br i1 %cmp.i, label %if.end.i.thread, label %for.body.i.lr.ph

if.end.i.thread:
  %data2.i = getelementptr inbounds nuw i8, ptr %object.addr.010, i64 32
  %2 = load ptr, ptr %data2.i, align 8
  %3 = load ptr, ptr %2, align 8
  tail call void %3(ptr nonnull %2) nounwind
  br label %release_fields.exit

for.body.i.lr.ph:
  %fields.i = getelementptr inbounds nuw i8, ptr %object.addr.010, i64 24
  br label %for.body.i

for.body.i:
  %list.addr.0.i9 = phi ptr [ %0, %for.body.i.lr.ph ], [ %list.addr.1.i, %if.end11.i ]
  %i.0.i8 = phi i64 [ 0, %for.body.i.lr.ph ], [ %inc.i, %if.end11.i ]
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %fields.i, i64 %i.0.i8
  %4 = load i64, ptr %arrayidx.i, align 8
  %and.i = and i64 %4, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %land.lhs.true.i, label %if.end11.i

land.lhs.true.i:
  %5 = inttoptr i64 %4 to ptr
  %6 = load i64, ptr %5, align 8
  %dec.i.i = add nsw i64 %6, -1
  store i64 %dec.i.i, ptr %5, align 8
  %cmp.i.i = icmp eq i64 %dec.i.i, 0
  br i1 %cmp.i.i, label %if.then8.i, label %if.end11.i

if.then8.i:
  store ptr %list.addr.0.i9, ptr %5, align 8
  br label %if.end11.i

if.end11.i:
  %list.addr.1.i = phi ptr [ %list.addr.0.i9, %for.body.i ], [ %5, %if.then8.i ], [ %list.addr.0.i9, %land.lhs.true.i ]
  %inc.i = add nuw nsw i64 %i.0.i8, 1
  %exitcond.not = icmp eq i64 %inc.i, %conv.i
  br i1 %exitcond.not, label %release_fields.exit, label %for.body.i

release_fields.exit:
  %list.addr.0.i.lcssa = phi ptr [ %0, %if.end.i.thread ], [ %list.addr.1.i, %if.end11.i ]
  %block_class.i = getelementptr inbounds nuw i8, ptr %object.addr.010, i64 16
  %7 = load i64, ptr %block_class.i, align 8
  %arrayidx.i6 = getelementptr inbounds nuw ptr, ptr %free_blocks.i, i64 %7
  %8 = load ptr, ptr %arrayidx.i6, align 8
  store ptr %8, ptr %object.addr.010, align 8
  store ptr %object.addr.010, ptr %arrayidx.i6, align 8
  %9 = load i64, ptr %alive, align 8
  %dec = add nsw i64 %9, -1
  store i64 %dec, ptr %alive, align 8
  %cmp.not = icmp eq ptr %list.addr.0.i.lcssa, null
  br i1 %cmp.not, label %while.end, label %while.body

while.end:
  ret void
}

define internal i32 @relay_heap_label(i64 %value) alwaysinline nounwind {
entry:
  %and.i = and i64 %value, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %if.end, label %if.then

if.then:
  %shr = lshr i64 %value, 1
  %conv = trunc i64 %shr to i32
  br label %return

if.end:
  %0 = inttoptr i64 %value to ptr
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 8
  br label %return

return:
  %retval.0 = phi i32 [ %conv, %if.then ], [ %2, %if.end ]
  ret i32 %retval.0
}

define internal void @relay_heap_check_stack(ptr %heap) alwaysinline nounwind {
entry:
  %0 = tail call ptr @llvm.frameaddress.p0(i32 0)
  %stack_end = getelementptr inbounds nuw i8, ptr %heap, i64 8
  %1 = load ptr, ptr %stack_end, align 8
  %cmp = icmp ult ptr %0, %1
  br i1 %cmp, label %if.then, label %if.end

if.then:
  tail call void @relay_heap_fail(ptr nonnull %heap, i32 -2) cold noreturn
  unreachable

if.end:
  ret void
}

define internal void @relay_heap_open(ptr initializes((0, 448)) %heap, ptr %constants) nounwind {
entry:
  %0 = getelementptr inbounds nuw i8, ptr %heap, i64 8
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(440) %0, i8 0, i64 440, i1 false)
  store ptr %constants, ptr %heap, align 8
  %result = getelementptr inbounds nuw i8, ptr %heap, i64 56
  store i64 1, ptr %result, align 8
  %first_chunk = getelementptr inbounds nuw i8, ptr %heap, i64 1024
  %1 = ptrtoint ptr %first_chunk to i64
  %cursor = getelementptr inbounds nuw i8, ptr %heap, i64 16
  store i64 %1, ptr %cursor, align 8
  %add = add i64 %1, 262144
  %end = getelementptr inbounds nuw i8, ptr %heap, i64 24
  store i64 %add, ptr %end, align 8
  %arena_bytes = getelementptr inbounds nuw i8, ptr %heap, i64 1000
  store i64 0, ptr %arena_bytes, align 8
  %block_count = getelementptr inbounds nuw i8, ptr %heap, i64 1008
  store i64 0, ptr %block_count, align 8
  ret void
}

define i64 @relay_heap_drop_result(ptr captures(none) %heap) nounwind {
entry:
  %result1 = getelementptr inbounds nuw i8, ptr %heap, i64 56
  %0 = load i64, ptr %result1, align 8
  store i64 1, ptr %result1, align 8
  %and.i = and i64 %0, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %land.lhs.true.i, label %relay_heap_release.exit

land.lhs.true.i:
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %1, align 8
  %dec.i = add nsw i64 %2, -1
  store i64 %dec.i, ptr %1, align 8
  %cmp.i = icmp eq i64 %dec.i, 0
  br i1 %cmp.i, label %if.then.i, label %relay_heap_release.exit

if.then.i:
  tail call fastcc void @relay_heap_bury(ptr nonnull %heap, ptr nonnull %1)
  br label %relay_heap_release.exit

relay_heap_release.exit:
  %alive = getelementptr inbounds nuw i8, ptr %heap, i64 40
  %3 = load i64, ptr %alive, align 8
  ret i64 %3
}

define internal range(i32 -1, 1) i32 @relay_heap_move(ptr captures(none) %heap, ptr captures(address) %moves, i64 %count) noinline nounwind {
entry:
  %cmp82.not = icmp eq i64 %count, 0
  br i1 %cmp82.not, label %return, label %for.body.lr.ph

for.body.lr.ph:
  %chunks = getelementptr inbounds nuw i8, ptr %heap, i64 32
  br label %for.body

for.body:
  %i.083 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx.idx = mul nuw nsw i64 %i.083, 24
  %arrayidx = getelementptr inbounds nuw i8, ptr %moves, i64 %arrayidx.idx
  %0 = load ptr, ptr %arrayidx, align 8
  %from = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %1 = load ptr, ptr %from, align 8
  %cmp2 = icmp ne ptr %0, %1
  %cmp.i80 = icmp ne i64 %i.083, 0
  %or.cond = and i1 %cmp2, %cmp.i80
  br i1 %or.cond, label %for.body.i, label %for.inc

for.body.i:
  %each.0.i81 = phi ptr [ %incdec.ptr.i, %for.inc.i ], [ %moves, %for.body ]
  %2 = load ptr, ptr %each.0.i81, align 8
  %cmp1.i = icmp eq ptr %2, %1
  br i1 %cmp1.i, label %land.lhs.true.i, label %for.inc.i

land.lhs.true.i:
  %from3.i = getelementptr inbounds nuw i8, ptr %each.0.i81, i64 8
  %3 = load ptr, ptr %from3.i, align 8
  %cmp4.not.i = icmp eq ptr %1, %3
  br i1 %cmp4.not.i, label %for.inc.i, label %if.end

for.inc.i:
  %incdec.ptr.i = getelementptr inbounds nuw i8, ptr %each.0.i81, i64 24
  %cmp.i = icmp ult ptr %incdec.ptr.i, %arrayidx
  br i1 %cmp.i, label %for.body.i, label %for.inc

if.end:
  %bytes = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %4 = load i64, ptr %bytes, align 8
  %add = add i64 %4, 64
  %call5 = tail call ptr @relay_alloc(i64 %add) nounwind
  %cmp6.not = icmp eq ptr %call5, null
  br i1 %cmp6.not, label %return, label %if.end8

if.end8:
  %5 = load ptr, ptr %chunks, align 8
  store ptr %5, ptr %call5, align 8
  store ptr %call5, ptr %chunks, align 8
  %memory = getelementptr inbounds nuw i8, ptr %call5, i64 64
  %6 = load ptr, ptr %from, align 8
  %7 = load i64, ptr %bytes, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %memory, ptr align 1 %6, i64 %7, i1 false)
  store ptr %memory, ptr %from, align 8
  br label %for.inc

for.inc:
  %inc = add nuw i64 %i.083, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %for.body24, label %for.body

for.body24:
  %i20.085 = phi i64 [ %inc39, %for.inc38 ], [ 0, %for.inc ]
  %arrayidx25 = getelementptr inbounds nuw %struct.move, ptr %moves, i64 %i20.085
  %8 = load ptr, ptr %arrayidx25, align 8
  %from28 = getelementptr inbounds nuw i8, ptr %arrayidx25, i64 8
  %9 = load ptr, ptr %from28, align 8
  %cmp29.not = icmp eq ptr %8, %9
  br i1 %cmp29.not, label %for.inc38, label %if.then30

if.then30:
  %bytes36 = getelementptr inbounds nuw i8, ptr %arrayidx25, i64 16
  %10 = load i64, ptr %bytes36, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %8, ptr align 1 %9, i64 %10, i1 false)
  br label %for.inc38

for.inc38:
  %inc39 = add nuw i64 %i20.085, 1
  %exitcond87.not = icmp eq i64 %inc39, %count
  br i1 %exitcond87.not, label %return, label %for.body24

return:
  %retval.4 = phi i32 [ 0, %for.inc38 ], [ 0, %entry ], [ -1, %if.end ]
  ret i32 %retval.4
}

declare ptr @relay_alloc(i64)

define void @relay_heap_close(ptr captures(none) %heap) nounwind {
entry:
  %chunks = getelementptr inbounds nuw i8, ptr %heap, i64 32
  %0 = load ptr, ptr %chunks, align 8
  store ptr null, ptr %chunks, align 8
  %cmp.not6 = icmp eq ptr %0, null
  br i1 %cmp.not6, label %while.end, label %while.body

while.body:
  %chunk.07 = phi ptr [ %1, %while.body ], [ %0, %entry ]
  %1 = load ptr, ptr %chunk.07, align 8
  tail call void @relay_free(ptr nonnull %chunk.07) nounwind
  %cmp.not = icmp eq ptr %1, null
  br i1 %cmp.not, label %while.end, label %while.body

while.end:
  ret void
}

declare void @relay_free(ptr)

define internal fastcc nonnull ptr @relay_heap_chunk(ptr %heap, i64 range(i64 16385, 0) %bytes) noinline nounwind {
entry:
  %call = tail call i1 @relay_stop_allows(i64 %bytes) nounwind
  br i1 %call, label %if.end, label %if.then

if.then:
  tail call void @relay_heap_fail(ptr %heap, i32 -12) cold noreturn
  unreachable

if.end:
  %add = add i64 %bytes, 64
  %call1 = tail call ptr @relay_alloc(i64 %add) nounwind
  %cmp = icmp eq ptr %call1, null
  br i1 %cmp, label %if.then2, label %if.end3

if.then2:
  tail call void @relay_heap_fail(ptr %heap, i32 -1) cold noreturn
  unreachable

if.end3:
  %chunks = getelementptr inbounds nuw i8, ptr %heap, i64 32
  %0 = load ptr, ptr %chunks, align 8
  store ptr %0, ptr %call1, align 8
  store ptr %call1, ptr %chunks, align 8
  %memory = getelementptr inbounds nuw i8, ptr %call1, i64 64
  ret ptr %memory
}

declare i1 @relay_stop_allows(i64)
