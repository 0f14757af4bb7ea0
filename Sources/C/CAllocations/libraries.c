#include "allocations.h"
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most = 512 };

struct library {
    const struct link_map *map;
    uintptr_t start, end;
    int is_module; // No library names it as one that it needs.
    int is_per_thread; // It has memory of which each new thread gets a copy.
    int kept; // How much of it is called: a `degree`.
};
enum degree { nothing, templates, everything };
static struct library all[most];
static int count;

static const char *name_of(const struct link_map *map) {
    const char *slash = strrchr(map->l_name, '/');
    return slash ? slash + 1 : map->l_name;
}

static int begins_with_any(const char *name, const char *const *starts) {
    for (; *starts; starts++) if (strncmp(name, *starts, strlen(*starts)) == 0) return 1;
    return 0;
}

// What the dynamic section says under this tag; 0 if nothing.
static uintptr_t said(const struct link_map *map, ElfW(Sxword) tag) {
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) if (d->d_tag == tag) return d->d_un.d_ptr;
    return 0;
}

static int needs(const struct link_map *map, const char *name) {
    const char *strings = (const char *)said(map, DT_STRTAB);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strcmp(strings + d->d_un.d_val, name) == 0) return 1;
    return 0;
}

// How much of `other` is called by way of this symbol of a library of which so much is called itself.
//
// libvips's own calls into an uncalled library do not count, since nobody makes them. Many libraries have the same C++ templates, and
// all use those of the library that comes first, which they may not even know: such code calls nothing but C++.
static enum degree called(const struct library *library, const struct library *other, const char *symbol, const char *const *uncalled) {
    const char *name = name_of(other->map);
    int is_cpp = strncmp(symbol, "_Z", 2) == 0;
    if (library->kept == templates) return is_cpp ? templates : nothing;
    if (strncmp(name_of(library->map), "libvips.so", 10) == 0 && begins_with_any(name, uncalled)) return is_cpp ? templates : nothing;
    return is_cpp && !needs(library->map, name) ? templates : everything;
}

static void keep(struct library *library, enum degree degree, const char *const *uncalled) {
    if (library->kept >= degree) return;
    library->kept = degree;
    static const ElfW(Sxword) tables[][2] = { { DT_RELA, DT_RELASZ }, { DT_JMPREL, DT_PLTRELSZ } };
    const struct link_map *map = library->map;
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)said(map, DT_SYMTAB);
    const char *strings = (const char *)said(map, DT_STRTAB);
    for (int t = 0; symbols && strings && t < 2; t++) {
        const ElfW(Rela) *first = (const ElfW(Rela) *)said(map, tables[t][0]);
        for (size_t r = 0; first && r < said(map, tables[t][1]) / sizeof *first; r++) {
            if (ELF64_R_SYM(first[r].r_info) == 0) continue;
            uintptr_t bound = *(const uintptr_t *)(map->l_addr + first[r].r_offset);
            const char *symbol = strings + symbols[ELF64_R_SYM(first[r].r_info)].st_name;
            for (int i = 0; i < count; i++)
                if (bound >= all[i].start && bound < all[i].end && all[i].kept < everything)
                    keep(&all[i], called(library, &all[i], symbol, uncalled), uncalled);
        }
    }
}

static struct library *find(const struct dl_phdr_info *info) {
    for (int i = 0; i < count; i++)
        if (all[i].map->l_addr == info->dlpi_addr && strcmp(all[i].map->l_name, info->dlpi_name) == 0) return &all[i];
    return NULL;
}

static int measure(struct dl_phdr_info *info, size_t size, void *given) {
    (void)size, (void)given;
    struct library *library = find(info);
    for (int p = 0; library && p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (!library->end || start < library->start)) library->start = start;
        if (part->p_type == PT_LOAD && start + part->p_memsz > library->end) library->end = start + part->p_memsz;
        if (part->p_type == PT_TLS) library->is_per_thread = 1;
    }
    return 0;
}

static int leave(struct dl_phdr_info *info, size_t size, void *left) {
    (void)size;
    struct library *library = find(info);
    if (!library || library->kept || library->is_per_thread) return 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int is_first = 1;
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        if (part->p_type != PT_LOAD) continue;
        // The first has the headers, which whoever walks over all libraries reads.
        if (!is_first) {
            uintptr_t start = (info->dlpi_addr + part->p_vaddr) / page * page;
            uintptr_t end = (info->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) / page * page;
            if (madvise((void *)start, end - start, MADV_DONTFORK) == 0) ++*(int *)left;
        }
        is_first = 0;
    }
    return 0;
}

int mz_leave_libraries(const char *const *uncalled) {
    // Otherwise a child would look through all libraries for a function that it is the first to call.
    const char *binds_now = getenv("LD_BIND_NOW");
    if (!binds_now || !*binds_now) return 0;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        if (count == most) return 0;
        if (map->l_ld && strncmp(name_of(map), "linux-", 6) != 0) all[count++] = (struct library) { .map = map, .is_module = 1 };
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) if (needs(all[i].map, name_of(all[j].map))) all[j].is_module = 0;
    dl_iterate_phdr(measure, NULL);
    // The program is the first.
    for (int i = 0; i < count; i++)
        if (i == 0 || (all[i].is_module && !begins_with_any(name_of(all[i].map), uncalled))) keep(&all[i], everything, uncalled);
    int left = 0;
    dl_iterate_phdr(leave, &left);
    return left;
}
