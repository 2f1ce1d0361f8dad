import { checkpointWal } from '../database/checkpoint.ts'

/** Checkpoints the WAL of a database whose path it receives, and reports the end of it. */
declare const self: Worker

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  try {
    checkpointWal(path)
  } catch {
    // The thread that writes checkpoints the rest, and reports what the disk refuses.
  }
  self.postMessage('finished')
}
