/**
 * A handler or hook that never waits. Elysia reads its source to see whether to await it, and takes
 * any call behind `return` or `=>` for a promise, which costs a request more than finding its key;
 * and a minifier writes other sources, in which `=>{if(` is such a call. So it reads one that names
 * what the handler takes of a request (`reads`), and no more.
 */
export function atOnce<Handler>(reads: readonly string[], handler: Handler): Handler {
  const source = `({ ${reads.join(', ')} }) => {}`
  return Object.defineProperty(handler as object, 'toString', { value: () => source }) as Handler
}
