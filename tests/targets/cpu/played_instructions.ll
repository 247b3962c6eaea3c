; Instructions of x86-64 in words: what Intel's manual (volume 2, "Operation") says that they do. Only the order in which
; floating-point sums are rounded is simpler. Each thread has its own tiles: 8 of 16 rows of 64 bytes, used as far as the
; configuration says. A tile that is not configured, or not as its use asks, spoils the result.

%played.tiles = type { [8 x [16 x <16 x i32>]], [8 x i64], [8 x i64] } ; tiles, their rows, their bytes in a row

@played.owners = internal global [64 x i64] zeroinitializer
@played.threads = internal global [64 x %played.tiles] zeroinitializer, align 64

define internal ptr @played.state() noinline {
entry:
  %thread = call ptr @llvm.thread.pointer.p0()
  %self = ptrtoint ptr %thread to i64
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %other ]
  %j = add i64 %i, 1
  %place = getelementptr [64 x i64], ptr @played.owners, i64 0, i64 %i
  %pair = cmpxchg ptr %place, i64 0, i64 %self seq_cst seq_cst
  %owner = extractvalue { i64, i1 } %pair, 0
  %new = extractvalue { i64, i1 } %pair, 1
  %own = icmp eq i64 %owner, %self
  %found = or i1 %new, %own
  br i1 %found, label %done, label %other
other:
  br label %next
done:
  %state = getelementptr [64 x %played.tiles], ptr @played.threads, i64 0, i64 %i
  ret ptr %state
}

define internal void @played.llvm.x86.ldtilecfg(ptr %configuration) noinline {
entry:
  %state = call ptr @played.state()
  call void @llvm.memset.p0.i64(ptr %state, i8 0, i64 8192, i1 false)
  br label %next
next:
  %t = phi i64 [ 0, %entry ], [ %following, %next ]
  %at2 = mul i64 %t, 2
  %bytes.place = add i64 %at2, 16
  %rows.place = add i64 %t, 48
  %from.bytes = getelementptr i8, ptr %configuration, i64 %bytes.place
  %from.rows = getelementptr i8, ptr %configuration, i64 %rows.place
  %bytes16 = load i16, ptr %from.bytes, align 1
  %rows8 = load i8, ptr %from.rows, align 1
  %bytes = zext i16 %bytes16 to i64
  %valid = icmp ule i8 %rows8, 16
  %valid8 = select i1 %valid, i8 %rows8, i8 0
  %rows = zext i8 %valid8 to i64
  %to.rows = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %t
  %to.bytes = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %t
  store i64 %rows, ptr %to.rows
  store i64 %bytes, ptr %to.bytes
  %following = add i64 %t, 1
  %more = icmp ult i64 %following, 8
  br i1 %more, label %next, label %done
done:
  ret void
}

define internal void @played.llvm.x86.tilerelease() noinline {
  %state = call ptr @played.state()
  call void @llvm.memset.p0.i64(ptr %state, i8 0, i64 8320, i1 false)
  ret void
}

define internal void @played.llvm.x86.tilezero(i8 %tile) noinline {
  %state = call ptr @played.state()
  %t = zext i8 %tile to i64
  %to = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %t
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 1024, i1 false)
  ret void
}

define internal void @played.llvm.x86.tileloadd64(i8 %tile, ptr %from, i64 %stride) noinline {
entry:
  call void @played.llvm.x86.tilezero(i8 %tile)
  %state = call ptr @played.state()
  %t = zext i8 %tile to i64
  %rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %t
  %bytes.at = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %t
  %rows = load i64, ptr %rows.at
  %bytes = load i64, ptr %bytes.at
  br label %test
test:
  %r = phi i64 [ 0, %entry ], [ %following, %next ]
  %more = icmp ult i64 %r, %rows
  br i1 %more, label %next, label %done
next:
  %to = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %t, i64 %r
  %offset = mul i64 %r, %stride
  %row = getelementptr i8, ptr %from, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %row, i64 %bytes, i1 false)
  %following = add i64 %r, 1
  br label %test
done:
  ret void
}

define internal void @played.llvm.x86.tilestored64(i8 %tile, ptr %to, i64 %stride) noinline {
entry:
  %state = call ptr @played.state()
  %t = zext i8 %tile to i64
  %rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %t
  %bytes.at = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %t
  %rows = load i64, ptr %rows.at
  %bytes = load i64, ptr %bytes.at
  br label %test
test:
  %r = phi i64 [ 0, %entry ], [ %following, %next ]
  %more = icmp ult i64 %r, %rows
  br i1 %more, label %next, label %done
next:
  %from = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %t, i64 %r
  %offset = mul i64 %r, %stride
  %row = getelementptr i8, ptr %to, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %row, ptr %from, i64 %bytes, i1 false)
  %following = add i64 %r, 1
  br label %test
done:
  ret void
}

define internal i1 @played.fits(ptr %state, i64 %c, i64 %a, i64 %b) noinline {
  %c.rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %c
  %c.bytes.at = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %c
  %a.rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %a
  %a.bytes.at = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %a
  %b.rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %b
  %b.bytes.at = getelementptr %played.tiles, ptr %state, i64 0, i32 2, i64 %b
  %c.rows = load i64, ptr %c.rows.at
  %c.bytes = load i64, ptr %c.bytes.at
  %a.rows = load i64, ptr %a.rows.at
  %a.bytes = load i64, ptr %a.bytes.at
  %b.rows = load i64, ptr %b.rows.at
  %b.bytes = load i64, ptr %b.bytes.at
  %depth = mul i64 %b.rows, 4
  %rows.fit = icmp eq i64 %a.rows, %c.rows
  %columns.fit = icmp eq i64 %b.bytes, %c.bytes
  %depth.fits = icmp eq i64 %a.bytes, %depth
  %used = icmp ne i64 %c.rows, 0
  %1 = and i1 %rows.fit, %columns.fit
  %2 = and i1 %1, %depth.fits
  %3 = and i1 %2, %used
  ret i1 %3
}

define internal void @played.llvm.x86.tdpbf16ps(i8 %sums, i8 %left, i8 %right) noinline {
  call void @played.products(i8 %sums, i8 %left, i8 %right, ptr @played.pairs)
  ret void
}

define internal void @played.llvm.x86.tdpbusd(i8 %sums, i8 %left, i8 %right) noinline {
  call void @played.products(i8 %sums, i8 %left, i8 %right, ptr @played.bytes)
  ret void
}

define internal void @played.products(i8 %sums, i8 %left, i8 %right, ptr %add) noinline {
entry:
  %state = call ptr @played.state()
  %c = zext i8 %sums to i64
  %a = zext i8 %left to i64
  %b = zext i8 %right to i64
  %rows.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %c
  %depth.at = getelementptr %played.tiles, ptr %state, i64 0, i32 1, i64 %b
  %rows = load i64, ptr %rows.at
  %depth = load i64, ptr %depth.at
  %spoilt = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %c
  %fits = call i1 @played.fits(ptr %state, i64 %c, i64 %a, i64 %b)
  br i1 %fits, label %row, label %misused
misused:
  call void @llvm.memset.p0.i64(ptr %spoilt, i8 127, i64 1024, i1 false)
  ret void
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %stored ]
  %c.at = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %c, i64 %r
  %start = load <16 x i32>, ptr %c.at
  br label %step
step:
  %k = phi i64 [ 0, %row ], [ %k.next, %step ]
  %sum = phi <16 x i32> [ %start, %row ], [ %sum.next, %step ]
  %a.at = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %a, i64 %r, i64 %k
  %one = load i32, ptr %a.at
  %first = insertelement <16 x i32> poison, i32 %one, i64 0
  %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
  %b.at = getelementptr %played.tiles, ptr %state, i64 0, i32 0, i64 %b, i64 %k
  %words = load <16 x i32>, ptr %b.at
  %sum.next = call <16 x i32> %add(<16 x i32> %sum, <16 x i32> %all, <16 x i32> %words)
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %depth
  br i1 %more, label %step, label %stored
stored:
  store <16 x i32> %sum.next, ptr %c.at
  %r.next = add i64 %r, 1
  %more.rows = icmp ult i64 %r.next, %rows
  br i1 %more.rows, label %row, label %done
done:
  ret void
}

define internal <16 x i32> @played.pairs(<16 x i32> %sums, <16 x i32> %a, <16 x i32> %b) noinline {
  %old = bitcast <16 x i32> %sums to <16 x float>
  %left = bitcast <16 x i32> %a to <32 x i16>
  %right = bitcast <16 x i32> %b to <32 x i16>
  %new = call <16 x float> @played.llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %old, <32 x i16> %left, <32 x i16> %right)
  %bits = bitcast <16 x float> %new to <16 x i32>
  ret <16 x i32> %bits
}

define internal <16 x i32> @played.bytes(<16 x i32> %sums, <16 x i32> %a, <16 x i32> %b) noinline {
  %left = bitcast <16 x i32> %a to <64 x i8>
  %right = bitcast <16 x i32> %b to <64 x i8>
  %wide.left = zext <64 x i8> %left to <64 x i32>
  %wide.right = sext <64 x i8> %right to <64 x i32>
  %products = mul <64 x i32> %wide.left, %wide.right
  %p0 = shufflevector <64 x i32> %products, <64 x i32> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %p1 = shufflevector <64 x i32> %products, <64 x i32> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %p2 = shufflevector <64 x i32> %products, <64 x i32> poison, <16 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30, i32 34, i32 38, i32 42, i32 46, i32 50, i32 54, i32 58, i32 62>
  %p3 = shufflevector <64 x i32> %products, <64 x i32> poison, <16 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31, i32 35, i32 39, i32 43, i32 47, i32 51, i32 55, i32 59, i32 63>
  %s1 = add <16 x i32> %sums, %p0
  %s2 = add <16 x i32> %s1, %p1
  %s3 = add <16 x i32> %s2, %p2
  %s4 = add <16 x i32> %s3, %p3
  ret <16 x i32> %s4
}

define internal <16 x float> @played.llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %sums, <32 x i16> %a, <32 x i16> %b) noinline {
  %wa = bitcast <32 x i16> %a to <16 x i32>
  %wb = bitcast <32 x i16> %b to <16 x i32>
  %la = shl <16 x i32> %wa, splat (i32 16)
  %lb = shl <16 x i32> %wb, splat (i32 16)
  %ha = and <16 x i32> %wa, splat (i32 -65536)
  %hb = and <16 x i32> %wb, splat (i32 -65536)
  %fla = bitcast <16 x i32> %la to <16 x float>
  %flb = bitcast <16 x i32> %lb to <16 x float>
  %fha = bitcast <16 x i32> %ha to <16 x float>
  %fhb = bitcast <16 x i32> %hb to <16 x float>
  %high = fmul <16 x float> %fha, %fhb
  %first = fadd <16 x float> %sums, %high
  %low = fmul <16 x float> %fla, %flb
  %second = fadd <16 x float> %first, %low
  ret <16 x float> %second
}

define internal <16 x i16> @played.llvm.x86.avx512bf16.cvtneps2bf16.512(<16 x float> %x) noinline {
  %bits = bitcast <16 x float> %x to <16 x i32>
  %last = lshr <16 x i32> %bits, splat (i32 16)
  %odd = and <16 x i32> %last, splat (i32 1)
  %half = add <16 x i32> %bits, splat (i32 32767)
  %raised = add <16 x i32> %half, %odd
  %quiet = or <16 x i32> %bits, splat (i32 4194304)
  %nan = fcmp uno <16 x float> %x, %x
  %chosen = select <16 x i1> %nan, <16 x i32> %quiet, <16 x i32> %raised
  %upper = lshr <16 x i32> %chosen, splat (i32 16)
  %exponent = and <16 x i32> %bits, splat (i32 2139095040)
  %sign = and <16 x i32> %last, splat (i32 32768)
  %denormal = icmp eq <16 x i32> %exponent, zeroinitializer
  %result = select <16 x i1> %denormal, <16 x i32> %sign, <16 x i32> %upper
  %narrow = trunc <16 x i32> %result to <16 x i16>
  ret <16 x i16> %narrow
}

define internal <8 x i16> @played.llvm.x86.avx512bf16.cvtneps2bf16.256(<8 x float> %x) noinline {
  %bits = bitcast <8 x float> %x to <8 x i32>
  %last = lshr <8 x i32> %bits, splat (i32 16)
  %odd = and <8 x i32> %last, splat (i32 1)
  %half = add <8 x i32> %bits, splat (i32 32767)
  %raised = add <8 x i32> %half, %odd
  %quiet = or <8 x i32> %bits, splat (i32 4194304)
  %nan = fcmp uno <8 x float> %x, %x
  %chosen = select <8 x i1> %nan, <8 x i32> %quiet, <8 x i32> %raised
  %upper = lshr <8 x i32> %chosen, splat (i32 16)
  %exponent = and <8 x i32> %bits, splat (i32 2139095040)
  %sign = and <8 x i32> %last, splat (i32 32768)
  %denormal = icmp eq <8 x i32> %exponent, zeroinitializer
  %result = select <8 x i1> %denormal, <8 x i32> %sign, <8 x i32> %upper
  %narrow = trunc <8 x i32> %result to <8 x i16>
  ret <8 x i16> %narrow
}

define internal <8 x float> @played.llvm.x86.avx512bf16.dpbf16ps.256(<8 x float> %sums, <16 x i16> %a, <16 x i16> %b) noinline {
  %wa = bitcast <16 x i16> %a to <8 x i32>
  %wb = bitcast <16 x i16> %b to <8 x i32>
  %la = shl <8 x i32> %wa, splat (i32 16)
  %lb = shl <8 x i32> %wb, splat (i32 16)
  %ha = and <8 x i32> %wa, splat (i32 -65536)
  %hb = and <8 x i32> %wb, splat (i32 -65536)
  %fla = bitcast <8 x i32> %la to <8 x float>
  %flb = bitcast <8 x i32> %lb to <8 x float>
  %fha = bitcast <8 x i32> %ha to <8 x float>
  %fhb = bitcast <8 x i32> %hb to <8 x float>
  %high = fmul <8 x float> %fha, %fhb
  %first = fadd <8 x float> %sums, %high
  %low = fmul <8 x float> %fla, %flb
  %second = fadd <8 x float> %first, %low
  ret <8 x float> %second
}

define internal <4 x float> @played.llvm.x86.avx512bf16.dpbf16ps.128(<4 x float> %sums, <8 x i16> %a, <8 x i16> %b) noinline {
  %wa = bitcast <8 x i16> %a to <4 x i32>
  %wb = bitcast <8 x i16> %b to <4 x i32>
  %la = shl <4 x i32> %wa, splat (i32 16)
  %lb = shl <4 x i32> %wb, splat (i32 16)
  %ha = and <4 x i32> %wa, splat (i32 -65536)
  %hb = and <4 x i32> %wb, splat (i32 -65536)
  %fla = bitcast <4 x i32> %la to <4 x float>
  %flb = bitcast <4 x i32> %lb to <4 x float>
  %fha = bitcast <4 x i32> %ha to <4 x float>
  %fhb = bitcast <4 x i32> %hb to <4 x float>
  %high = fmul <4 x float> %fha, %fhb
  %first = fadd <4 x float> %sums, %high
  %low = fmul <4 x float> %fla, %flb
  %second = fadd <4 x float> %first, %low
  ret <4 x float> %second
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @llvm.thread.pointer.p0()
