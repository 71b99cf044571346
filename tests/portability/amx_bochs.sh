#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# amx_bochs.sh BUILD   runs the AMX kernels of BUILD/bin as they are, on a Sapphire Rapids that Bochs 3.0
# emulates, under a Linux that grants the tiles: the golden steps on every target of that processor, the kernels
# of f32 on each, a sample of the property tests of i16 with each set of vectors that build machines may lack, and
# those of the AMX machine whole.
# Work and downloads lie in BUILD/amx; Bochs and Linux come from Debian 13. A run takes a core for an hour or
# more, the first one five minutes besides. Fails unless everything passed.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
build="$(cd "${1:?amx_bochs.sh BUILD}" && pwd)"
work="$build/amx"
mkdir -p "$work"
cd "$work"

fail() {
    printf 'amx: %s\n  fix: %s\n' "$1" "$2" >&2
    exit 1
}

needed=(busybox-static bochsbios vgabios cpio grub-common grub-pc-bin mtools xorriso)
for package in "${needed[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] ||
        fail "$package is missing" "apt-get install --no-install-recommends ${needed[*]}"
done

# Debian 13 beside the packages of this machine, which stay as they are.
mkdir -p lists/partial cache/archives/partial
printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n' \
    deb deb-src >sources.list
debian13() {
    local program="$1"
    shift
    "$program" -q=2 -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
        -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null "$@"
}

source=bochs_3.0+dfsg.orig.tar.xz
if [ ! -f vmlinuz ] || [ ! -f "$source" ]; then debian13 apt-get update; fi
if [ ! -f vmlinuz ]; then
    package="$(debian13 apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: *//p' | head -n 1)"
    debian13 apt-get download "$package"
    dpkg-deb --extract "$package"_*.deb kernel
    printf '%s\n' "$package" >linux
    cp kernel/boot/vmlinuz-* vmlinuz
fi
if [ ! -f "$source" ]; then debian13 apt-get source --download-only bochs || true; fi
echo "78f6c73d4a6472d5130a87ab9dc306d02c7c71ed8e25b3a8ef642e2a7acd282b  $source" | sha256sum --check --quiet ||
    fail "no source of Bochs 3.0" "put Debian's $source into $work"

# change FILE PATTERN SED: lines with PATTERN are changed by SED; fails where there is none.
change() {
    grep -q -- "$2" "$1" || fail "$1 has no '$2'" "this is not Bochs 3.0: rm -r $work"
    local before
    before="$(sha256sum <"$1")"
    sed -i "/$2/$3" "$1" && [ "$before" != "$(sha256sum <"$1")" ] || fail "$1 is as it was" "mend: $2 $3"
}

# What Linux needs of the processor and Bochs 3.0 lacks: extended feature disable (XFD: a process is refused the
# tiles, by #NM, until the system grants them), and a context switch that keeps tiles: sixteen rows of them, their
# shapes in order, found where XRSTORS says even if it does not ask for all that lies before them.
# And its tdpbssd takes bytes without their sign, against Intel's manual.
# The other tile instructions, all decoding and all of AVX-512 stay as they are.
mend_bochs() {
    local cpu=BX_CPU_THIS_PTR
    change cpu/cpu.h '^  Bit64u ia32_xss;' 's/$/ Bit64u ia32_xfd, ia32_xfd_err;/'
    change cpu/init.cc '^  .*msr\.ia32_xss = 0;' "s/\$/ $cpu msr.ia32_xfd = $cpu msr.ia32_xfd_err = 0;/"
    change cpu/cpuid.cc '^      leaf->eax |= (1<<3);' \
        's/$/ if (is_cpu_extension_supported(BX_ISA_AMX)) leaf->eax |= 1<<4;/'
    change cpu/cpuid.cc '^      leaf->ecx = (cpu->ia32_xss_suppmask' \
        's/$/ if (subfunction == 18) leaf->ecx |= 4;/'
    change cpu/msr.cc '^  msr_desc\[BX_MSR_XSS\]' \
        's/$/ for (unsigned n = 0x1c4; n <= 0x1c5; n++) msr_desc[n] = new MSR_Descriptor("XFD", BX_ISA_AMX);/'
    # The first is what RDMSR reads, the second what WRMSR writes.
    sed -i "0,/^    case BX_MSR_XSS:/s//    case 0x1c4: val64 = $cpu msr.ia32_xfd; break;\\
    case 0x1c5: val64 = $cpu msr.ia32_xfd_err; break;\\
    case BX_MSR_XSS :/" cpu/msr.cc
    change cpu/msr.cc '^    case BX_MSR_XSS:' "s/^/    case 0x1c4:\\
      $cpu msr.ia32_xfd = val_64; handleAvxModeChange(); break;\\
    case 0x1c5: $cpu msr.ia32_xfd_err = val_64; break;\\
/"
    change cpu/proc_ctrl.cc '^      (~.*(BX_XCR0_XTILECFG_MASK | BX_XCR0_XTILEDATA_MASK)) != 0)' \
        "s/^/ ($cpu msr.ia32_xfd \\& BX_XCR0_XTILEDATA_MASK) != 0 ||/"
    change cpu/proc_ctrl.cc 'BxNoAMX(bxInstruction_c' ",/BX_ASSERT/s/BX_ASSERT(0);/\\
  $cpu msr.ia32_xfd_err |= $cpu msr.ia32_xfd \\& BX_XCR0_XTILEDATA_MASK; exception(BX_NM_EXCEPTION, 0);/"
    change cpu/xsave.cc 'vmm16u(8+n)  *= ' 's/rows;/bytes_per_row;/'
    change cpu/xsave.cc 'vmmubyte(48+n) = ' 's/bytes_per_row;/rows;/'
    change cpu/xsave.cc 'row < BX_TILE_REGISTERS' 's//row < BX_TILE_MAX_ROWS/'
    change cpu/xsave.cc 'return (.*tile_use_tracker == 0)' 's/== 0/!= 0/'
    change cpu/xsave.cc '^  if (compaction) {' ',/feature_mask) != 0)/s/^      if ((requested.*/\
      if ((~requested_feature_bitmap \& format \& feature_mask) != 0) offset += xsave_restore[feature].len;\
&/'
    change cpu/avx/amx.cc '^BX_CPP_INLINE Bit32u DPBDSS(' ',/^}/s/Bit8u/Bit8s/g'
}

# Without the rate that Bochs shows each second: its signal's handler waits for a lock that a log line may hold.
# A function after `||` goes on past a failure: every step says that the next one needs it.
build_bochs() (
    cd bochs-3.0 && mend_bochs &&
        ./configure --with-nogui --disable-plugins --disable-docbook --enable-cpu-level=6 --enable-x86-64 \
            --enable-pci --enable-cdrom --enable-fpu --enable-avx --enable-evex --enable-amx --enable-cet \
            --enable-uintr --enable-protection-keys --enable-memtype --enable-vmx=2 --enable-monitor-mwait \
            --enable-all-optimizations --enable-handlers-chaining --disable-show-ips --disable-usb \
            CXXFLAGS='-O2 -w' CFLAGS='-O2 -w' &&
        make -j2
)

# Built again when this script builds another.
stamp="$( (declare -f change mend_bochs build_bochs; cat "$source") | sha256sum)"
if [ ! -x bochs ] || [ "$stamp" != "$(cat bochs.stamp 2>/dev/null)" ]; then
    rm -rf bochs bochs-3.0
    tar -xf "$source"
    build_bochs >bochs-build.log 2>&1 || fail "Bochs does not build" "read $work/bochs-build.log"
    cp bochs-3.0/bochs .
    printf '%s\n' "$stamp" >bochs.stamp
fi

# The programs of the build, what they link, and an /init that runs them.
rm -rf tree iso
mkdir -p tree/bin tree/proc tree/dev iso/boot/grub
cp /bin/busybox tree/bin/
ln -s busybox tree/bin/sh
cp "$root/tests/vectors/golden_steps.txt" tree/
for program in integer_test golden_steps trainer_test; do
    strip -o "tree/bin/$program" "$build/bin/$program"
    ldd "$build/bin/$program" | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "tree$(dirname "$library")"
        cp -L "$library" "tree$library"
    done
done
cat >tree/init <<'INIT'
#!/bin/sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox uname -sr
/bin/busybox grep -m 1 'model name' /proc/cpuinfo
/bin/golden_steps /golden_steps.txt amx vnni avx512 avxvnni avx2 scalar && echo 'amx: golden_steps passed'
/bin/trainer_test '[kernels]' && echo 'vectors: kernels of f32 passed'
# A sample of the property tests on vectors, for build machines without these instructions.
for machine in vnni-runs vnni-bytes avx512 avxvnni; do
    ASSAY_TEST_SHARE=8 ASSAY_MACHINE=$machine /bin/integer_test || break
    echo "vectors: integer_test passed on $machine"
done
# Two at a time, so that the system takes the tiles from one for the other.
ASSAY_MACHINE=amx /bin/integer_test >/second 2>&1 &
ASSAY_MACHINE=amx /bin/integer_test --durations yes && wait $! && echo 'amx: integer_test passed'
/bin/busybox cat /second
/bin/busybox sleep 2 # until the console has all of it
/bin/busybox poweroff -f
INIT
chmod +x tree/init
(cd tree && find . | cpio --quiet -o -H newc -R 0:0) >iso/boot/initrd
cp vmlinuz iso/boot/vmlinuz
# System management mode of Bochs and page tables of five levels do not go together: no5lvl.
cat >iso/boot/grub/grub.cfg <<'GRUB'
set timeout=0
linux /boot/vmlinuz console=ttyS0 no5lvl mitigations=off panic=-1 quiet
initrd /boot/initrd
boot
GRUB
grub-mkrescue -o boot.iso iso >grub.log 2>&1 || fail "no boot image" "read $work/grub.log"

cat >bochsrc <<'BOCHS'
cpu: model=sapphire_rapids, count=1, ips=100000000, reset_on_triple_fault=0
memory: guest=1024, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios-stdvga.bin
ata0-master: type=cdrom, path=boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=serial.txt
log: bochs.log
panic: action=fatal
display_library: nogui
clock: sync=none
BOCHS
rm -f serial.txt
printf 'amx: %s on an emulated Sapphire Rapids; its console is %s\n' "$(cat linux)" "$work/serial.txt"
# Powering off is a panic to Bochs: what the console says decides.
./bochs -q -f bochsrc >bochs.out 2>&1 </dev/null || true
cat serial.txt
for passed in 'amx: golden_steps passed' 'vectors: kernels of f32 passed' \
    'vectors: integer_test passed on '{vnni-runs,vnni-bytes,avx512,avxvnni} \
    'amx: integer_test passed'; do
    grep -q "^$passed" serial.txt || fail "not said: $passed" "read $work/serial.txt and bochs.log"
done
