import { reasonOfCode } from '../files/error-text.ts'

/** Standard output or error took no more: its disk is full, or its reader is gone. */
export class OutputFault extends Error {
  /** The reader has closed the pipe, as `head` does: it has what it wanted. */
  readonly isClosed: boolean

  constructor(name: string, cause: NodeJS.ErrnoException) {
    super(`${name} cannot be written: ${reasonOfCode(cause) ?? cause.message}.`, { cause })
    this.isClosed = cause.code === 'EPIPE'
  }
}

type Stream = Pick<NodeJS.WriteStream, 'write' | 'on'>

/**
 * Writes to a stream of the process. An error of the stream does not end the process: a server
 * whose log goes to a full disk continues to serve, and reports when there is space again how many
 * texts were lost.
 */
export function createOutput(stream: Stream, name: string) {
  let last: Promise<void> = Promise.resolve()
  let fault: OutputFault | undefined
  let lost = 0
  // Without a listener, the runtime ends the process. Each write gets its own error.
  stream.on('error', () => undefined)
  const noteLost = () => {
    if (lost === 0) return
    stream.write(`${fault!.message} Lines lost: ${lost}.\n`)
    lost = 0
  }
  /** Resolves when the text has left this process: a pipe takes it when its consumer does. */
  const write = (text: string): Promise<void> => {
    const written = new Promise<void>((done, fail) => {
      stream.write(text, error => {
        if (!error) {
          noteLost()
          done()
          return
        }
        lost += 1
        fault = new OutputFault(name, error)
        fail(fault)
      })
    })
    last = written.catch(() => undefined)
    return written
  }
  return {
    write,
    /** Writes without waiting; `settled` returns what went wrong. */
    put: (text: string): void => void write(text).catch(() => undefined),
    /**
     * Resolves to the last error when everything has been written or lost. An empty write would not
     * do: the engine completes it while the text before it still waits.
     */
    async settled(): Promise<OutputFault | undefined> {
      await last
      return fault
    },
  }
}
