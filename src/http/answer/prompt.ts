const prompt = new WeakSet<Request>()

/**
 * Says of a request that its handler, although it may have to wait, waits for nothing this time: the
 * runtime sends its answer in one piece, as those of handlers that never wait.
 */
export const markPrompt = (request: Request): void => void prompt.add(request)

export const isPrompt = (request: Request): boolean => prompt.has(request)
