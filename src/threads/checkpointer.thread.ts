import { foldLog } from '../database/log-folding.ts'

/** A thread that folds the log of a database whenever it is sent its path, and says so when it has. */
declare const self: Worker

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  try {
    foldLog(path)
  } catch {
    // What is left of the log is folded by whoever writes it, who tells what the disk refuses.
  }
  self.postMessage('folded')
}
