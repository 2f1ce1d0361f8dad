import { minuteMs } from '../../lib/time/instant.ts'

/** More files than keys read at once; without the oldest, its next part takes a slot again. */
const filesMax = 10_000

export type FileParts = ReturnType<typeof createFileParts>

/**
 * Parts of files that were sent to keys. A tool that reads a table over the network asks for many: those
 * of one version of a file take one slot of the rate limit in a minute.
 */
export function createFileParts() {
  const sent = new Map<string, { etag: string; sinceMs: number }>()
  return {
    /** Names the file of a request for a part; undefined for other requests. */
    nameOf: (keyId: string, { url, headers }: Request): string | undefined =>
      headers.has('range') ? `${keyId} ${new URL(url).pathname}` : undefined,
    /** Whether the slot of an earlier part covers another one. */
    covers(name: string | undefined, nowMs: number): boolean {
      const part = name === undefined ? undefined : sent.get(name)
      return part !== undefined && nowMs - part.sinceMs < minuteMs
    },
    note(name: string, etag: string, nowMs: number) {
      const part = sent.get(name)
      const isCovering = part !== undefined && nowMs - part.sinceMs < minuteMs
      if (isCovering && part.etag === etag) return
      sent.delete(name)
      // The file has changed: its next part takes a slot.
      if (isCovering) return
      sent.set(name, { etag, sinceMs: nowMs })
      if (sent.size > filesMax) sent.delete(sent.keys().next().value!)
    },
  }
}
