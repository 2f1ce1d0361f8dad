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

/** Gets why texts were lost, and how many, when there is space again. */
export type LostListener = (why: string, count: number) => void

/**
 * Writes to a stream of the process. An error of the stream does not end the process: a server
 * whose log goes to a full disk continues to serve.
 */
export function createOutput(stream: Stream, name: string) {
  let last: Promise<void> = Promise.resolve()
  let fault: OutputFault | undefined
  let lost = 0
  let report: LostListener | undefined
  // Without a listener, the runtime ends the process. Each write gets its own error.
  stream.on('error', () => undefined)
  const noteLost = () => {
    const count = lost
    lost = 0
    if (count > 0) report?.(fault!.message, count)
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
    /**
     * Reports lost texts from now on. Only the listener knows what may be written between the
     * others: a log has lines of its format, and the output of a command has nothing else.
     */
    onLost(listener: LostListener) {
      report = listener
    },
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
