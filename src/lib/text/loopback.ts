/** Whether a host name always means this machine; other names may be given its address. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname)
