import { fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { sleep } from '../lib/time/clock.ts'

/** A thread that brings a file to the disk, again and again, while another one writes it. */
declare const self: Worker

const betweenMs = 50

self.onmessage = async ({ data: path }: MessageEvent<string>) => {
  try {
    const file = openSync(path, 'r')
    for (;;) {
      await promisify(fdatasync)(file)
      await sleep(betweenMs)
    }
  } catch {
    // The writer of the file gets the same error and reports it.
  }
}
