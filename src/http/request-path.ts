export const pathOf = (request: Request): string => withoutLinkKey(new URL(request.url).pathname)

/** A path may carry a key, which no log may. */
export const withoutLinkKey = (path: string): string => path.replace(/\/key\/[^/]+/, '/key/…')
