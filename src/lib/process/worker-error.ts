const messageCharactersMax = 300

/**
 * The message of an error that ended a worker thread. The runtime hands over the source around it
 * and the stack as one text, and the source of a binary is a line of thousands of characters.
 */
export function workerErrorMessage(text: string): string {
  const lines = text.split('\n').map(line => line.trim())
  const message = lines.findLast(line => /^(?:[A-Z]\w*)?error: /i.test(line))
  return (message ?? lines[0] ?? '').replace(/^error: /, '').slice(0, messageCharactersMax)
}
