/**
 * A bar on a terminal. The library is loaded when one is drawn, because every other command is
 * quicker without it.
 */
export async function progressBar(stream: NodeJS.WritableStream, format: string) {
  const { SingleBar } = await import('cli-progress')
  return new SingleBar({
    format,
    stream,
    clearOnComplete: true,
    // Ctrl-C may end the process without notifying the bar, so the bar must not change the state of
    // the terminal.
    gracefulExit: false,
    hideCursor: false,
    linewrap: true,
  })
}
