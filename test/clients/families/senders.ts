import { type Header, sendOnWire, type WireAnswer } from './wire-client.ts'

/** The requests of a published family of clients, with their headers in order. */
export interface Sender {
  name: string
  /** `isOpen`: the path needs no key, and the family sends none. */
  headers(key: string, request: { method: string; hasBody: boolean; isOpen: boolean }): Header[]
}

const authorized = (key: string, isOpen: boolean, scheme = 'Token'): Header[] =>
  isOpen ? [] : [['Authorization', `${scheme} ${key}`]]

export const node: Sender = {
  name: 'node',
  headers: (key, { isOpen }) => [
    ['connection', 'keep-alive'],
    ...authorized(key, isOpen),
    ['Content-Type', 'application/json'],
    ['User-Agent', 'prices-node/1.2.6 node/v20.20.2'],
    ['X-SDK-Name', 'prices-node'],
    ['X-SDK-Version', '1.2.6'],
    ['accept', '*/*'],
    ['accept-language', '*'],
    ['sec-fetch-mode', 'cors'],
    ['accept-encoding', 'gzip, deflate'],
  ],
}

export const python: Sender = {
  name: 'python',
  headers: key => [
    ['Accept-Encoding', 'gzip, deflate'],
    ['Connection', 'keep-alive'],
    ['Authorization', `Token ${key}`],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json'],
    ['User-Agent', 'prices-python/1.12.8 python/3.11.7'],
    ['X-SDK-Name', 'prices-python'],
    ['X-SDK-Version', '1.12.8'],
    ['X-SDK-Language', 'python'],
    ['X-Client-Type', 'sdk'],
  ],
}

export const go: Sender = {
  name: 'go',
  headers: (key, { isOpen }) => [
    ['User-Agent', 'prices-go/1.0.0'],
    ...authorized(key, isOpen),
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', 'gzip'],
  ],
}

export const php: Sender = {
  name: 'php',
  headers: (key, { isOpen }) => [
    ['Accept', 'application/json'],
    ['User-Agent', 'prices-php/2.1.0'],
    ...authorized(key, isOpen),
  ],
}

export const mcp: Sender = {
  name: 'mcp',
  headers: key => [
    ['connection', 'keep-alive'],
    ['User-Agent', 'prices-mcp/1.2.0'],
    ['Accept', 'application/json'],
    ['Authorization', `Bearer ${key}`],
    ['accept-language', '*'],
    ['sec-fetch-mode', 'cors'],
    ['accept-encoding', 'gzip, deflate'],
  ],
}

export const openbb: Sender = {
  name: 'openbb',
  headers: key => [
    ['Accept-Encoding', 'gzip, deflate'],
    ['Connection', 'keep-alive'],
    ['User-Agent', 'python-httpx/0.28.1'],
    ['Authorization', `Token ${key}`],
    ['Accept', 'application/json'],
  ],
}

export const sheets: Sender = {
  name: 'sheets',
  headers: key => [
    ['Authorization', `Token ${key}`],
    ['Content-Type', 'application/json'],
    [
      'User-Agent',
      'Mozilla/5.0 (compatible; Google-Apps-Script; beanserver; +https://script.google.com; id: A)',
    ],
    ['Accept-Encoding', 'gzip'],
  ],
}

export const excel: Sender = {
  name: 'excel',
  headers: key => [
    ['Connection', 'keep-alive'],
    ['Authorization', `Token ${key}`],
    ['User-Agent', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0.0.0 Safari/537.36'],
    ['Content-Type', 'application/json'],
    ['Accept', '*/*'],
    ['Origin', 'https://sheets.example.com'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Mode', 'cors'],
    ['Accept-Encoding', 'gzip, deflate'],
  ],
}

export const recipes: Sender = {
  name: 'recipes',
  headers: (key, { isOpen, hasBody }) => [
    ['User-Agent', 'python-requests/2.32.3'],
    ['Accept-Encoding', 'gzip, deflate'],
    ['Accept', '*/*'],
    ['Connection', 'keep-alive'],
    ...authorized(key, isOpen),
    ...(hasBody ? [['Content-Type', 'application/json'] as const] : []),
  ],
}

/** A sender from which one header was taken, as a proxy does. */
export const without = (sender: Sender, header: string): Sender => ({
  name: `${sender.name} without ${header}`,
  headers: (key, request) =>
    sender.headers(key, request).filter(([name]) => name.toLowerCase() !== header.toLowerCase()),
})

export type Send = (
  method: string,
  path: string,
  options?: { body?: unknown; isOpen?: boolean },
) => Promise<WireAnswer>

export const sendAs =
  (sender: Sender, { url, apiKey }: { url: string; apiKey: string }): Send =>
  (method, path, { body, isOpen = false } = {}) =>
    sendOnWire(
      url,
      method,
      path,
      sender.headers(apiKey, { method, hasBody: body !== undefined, isOpen }),
      body === undefined ? undefined : JSON.stringify(body),
    )
