/**
 * A handler that never waits. Elysia reads the source of a handler to see whether to await it, and
 * takes any call behind `return` or `=>` for a promise, which costs a request as much as finding
 * its key; and a minifier writes other sources. So it reads one that names what the handler takes
 * of a request (`reads`), and no more.
 */
export function atOnce<Handler>(reads: readonly string[], handler: Handler): Handler {
  const source = `({ ${reads.join(', ')} }) => {}`
  return Object.defineProperty(handler as object, 'toString', { value: () => source }) as Handler
}
