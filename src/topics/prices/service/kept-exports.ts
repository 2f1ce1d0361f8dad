/** Short exports that were made lately. */
export interface KeptExports {
  /**
   * The bytes of the export with this entity tag, made anew where `versions` are other objects than
   * those it was made of.
   */
  of(
    etag: string,
    versions: readonly object[],
    make: () => Promise<Iterable<Uint8Array>>,
  ): Promise<Uint8Array<ArrayBuffer>>
}

interface Kept {
  versions: readonly object[]
  bytes: Uint8Array<ArrayBuffer>
}

/**
 * Everybody who asks for the last year of a code gets the same file until its next price: its bytes
 * are kept, `bytesMax` in all, the least lately asked for go first.
 */
export function createKeptExports(bytesMax: number): KeptExports {
  const exports = new Map<string, Kept>()
  let bytes = 0
  const drop = (etag: string) => {
    bytes -= exports.get(etag)?.bytes.byteLength ?? 0
    exports.delete(etag)
  }
  const keep = (etag: string, kept: Kept) => {
    drop(etag)
    exports.set(etag, kept)
    bytes += kept.bytes.byteLength
    for (const oldest of exports.keys()) {
      if (bytes <= bytesMax) return
      drop(oldest)
    }
  }
  return {
    async of(etag, versions, make) {
      const kept = exports.get(etag)
      const stands = kept !== undefined && versions.every((one, i) => one === kept.versions[i])
      const current = stands
        ? kept
        : { versions, bytes: new Uint8Array(Buffer.concat([...(await make())])) }
      keep(etag, current)
      return current.bytes
    },
  }
}
