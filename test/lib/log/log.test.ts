import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Fields, LogFormat, LogLevel } from '../../../src/lib/log/log.ts'
import { createLog, oneLine, redact, reportLost } from '../../../src/lib/log/log.ts'
import { runs } from '../../support/full.ts'

const formats: LogFormat[] = ['json', 'text']
const lineBreaks = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

function written(
  format: LogFormat,
  use: (log: ReturnType<typeof createLog>) => void,
  level: LogLevel = 'debug',
): string[] {
  const lines: string[] = []
  use(
    createLog({
      level,
      format,
      write: line => lines.push(line),
      clock: { now: () => Date.UTC(2026, 10, 21, 19, 30) },
    }),
  )
  return lines
}

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const word = (minLength: number) =>
  fc.string({ unit: fc.constantFrom(...'ABCDEFghijkl0123456789-_'), minLength, maxLength: 60 })
const anyText = fc.string({ unit: 'binary', maxLength: 80 })

/** A secret and the spelling in which it turns up in a text. */
const spelled = fc.oneof(
  hex(64).map(secret => ({ secret, spelling: secret })),
  hex(64).map(secret => ({ secret, spelling: secret.toUpperCase() })),
  word(20).map(secret => ({ secret, spelling: `whsec_${secret}` })),
  fc
    .tuple(
      word(20),
      fc.constantFrom(
        'Authorization: Token ',
        'authorization: bearer ',
        '"authorization":"Token ',
        'Authorization=',
        'Bearer ',
        'Token ',
      ),
    )
    .map(([secret, before]) => ({ secret, spelling: ` ${before}${secret} ` })),
  fc
    .tuple(
      word(20),
      fc.constantFrom(
        '?api_key=',
        '&api_key=',
        '?token=',
        '&access_token=',
        '?api%5Fkey=',
        '?%61PI_key=',
        'api_key%3D',
        '"api_key":"',
      ),
    )
    .map(([secret, before]) => ({ secret, spelling: `${before}${secret}"` })),
)

/** Each place in which a text can reach a line. */
const places: Readonly<
  Record<string, (text: string) => readonly [message: string, fields: Fields]>
> = {
  message: text => [text, {}],
  field: text => ['m', { text }],
  'name of a field': text => ['m', { [text]: 1 }],
  'nested field': text => ['m', { a: { b: [{ c: text }] } }],
  map: text => ['m', { map: new Map([[text, text]]) }],
  set: text => ['m', { set: new Set([text]) }],
  error: text => ['m', { error: new Error(text) }],
  'cause of an error': text => ['m', { error: new Error('outer', { cause: new Error(text) }) }],
  'one of several errors': text => [
    'm',
    { error: new AggregateError([new Error(text)], 'several') },
  ],
  'own serialisation': text => ['m', { odd: { toJSON: () => ({ text }) } }],
  'function source': text => ['m', { call: { toString: () => text } }],
}

describe.each(formats)('%s lines', format => {
  test('log lines never contain a token, whatever the surrounding text and its place', () => {
    fc.assert(
      fc.property(
        anyText,
        spelled,
        anyText,
        fc.constantFrom(...Object.keys(places)),
        (before, { secret, spelling }, after, place) => {
          const [message, fields] = places[place]!(before + spelling + after)
          const lines = written(format, log => log.info(message, fields))
          expect(lines.join('').toLowerCase()).not.toContain(secret.toLowerCase())
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  test('are one line each, whatever is logged', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
    })
    fc.assert(
      fc.property(
        anyText,
        fc.dictionary(anyText, fc.oneof(anything, anyText)),
        (message, fields) => {
          const lines = written(format, log => log.error(message, fields))
          expect(lines).toHaveLength(1)
          expect(lines[0]!.split(lineBreaks)).toHaveLength(2)
          expect(lines[0]!.endsWith('\n')).toBe(true)
          if (format === 'json')
            expect(JSON.parse(lines[0]!)).toMatchObject({
              ts: '2026-11-21T19:30:00.000Z',
              level: 'error',
            })
        },
      ),
      { numRuns: runs(500) },
    )
  })

  test('an escape sequence does not reach the terminal', () => {
    const lines = written(format, log =>
      log.info('\u001b[2J\u009b2J \u202egnp.exe', { '\u001b]0;x': '\u001b[31m' }),
    )
    expect(lines.join('')).toMatch(/^[ -~]+\n$/)
  })

  test('levels below the least one are not written', () => {
    const all = (log: ReturnType<typeof createLog>) => {
      log.debug('a')
      log.info('b')
      log.warn('c')
      log.debug('d')
      log.error('e')
    }
    expect(written(format, all, 'debug')).toHaveLength(5)
    expect(written(format, all, 'warn')).toHaveLength(2)
    expect(written(format, all, 'error')).toHaveLength(1)
  })

  test('lost lines are reported at every level', () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      const [line] = written(format, log => reportLost(log)('The disk is full.', 3), level)
      expect(line).toContain('log_lines_lost')
    }
  })

  test('what cannot be read does not stop the line', () => {
    const loop: Record<string, unknown> = { name: 'loop' }
    loop.self = loop
    const trap = {
      get broken(): string {
        throw new Error('no')
      },
      whole: 1,
    }
    const deep = Array.from({ length: 50 }).reduce<unknown>(inner => ({ inner }), 'core')
    const [line] = written(format, log =>
      log.info('m', {
        loop,
        trap,
        deep,
        wide: Array.from({ length: 5000 }, (_, i) => i),
        at: new Date(Number.NaN),
      }),
    )
    expect(line).toContain('[circular]')
    expect(line).toContain('[unreadable]')
    expect(line).toContain('[deeper]')
    expect(line).toContain('[4900 more]')
    expect(line!.length).toBeLessThan(2000)
  })
})

test('a JSON line holds time, level, message and fields', () => {
  const lines = written('json', log =>
    log.info('answered', {
      status: 200,
      ms: 1.5,
      none: undefined,
      level: 'fake',
      big: 2n ** 70n,
    }),
  )
  expect(JSON.parse(lines[0]!)).toEqual({
    ts: '2026-11-21T19:30:00.000Z',
    level: 'info',
    msg: 'answered',
    status: 200,
    ms: 1.5,
    level_: 'fake',
    big: '1180591620717411303424',
  })
})

test('a text line reads as time, level, message and fields', () => {
  expect(
    written('text', log =>
      log.warn('feed is late', { feed: 'crude', minutes: 31, why: 'no answer', list: ['a'] }),
    ),
  ).toEqual([
    '2026-11-21T19:30:00.000Z WARN  feed is late feed=crude minutes=31 why="no answer" list=["a"]\n',
  ])
})

test('a log message cannot start a new line', () => {
  expect(written('text', log => log.info('x\n2026-11-21T19:30:00.000Z ERROR forged\r\n'))).toEqual([
    '2026-11-21T19:30:00.000Z INFO  x\\n2026-11-21T19:30:00.000Z ERROR forged\\r\\n\n',
  ])
})

test('an error keeps its name, message, stack and cause', () => {
  const error = new TypeError('first', { cause: 'second' })
  const logged = JSON.parse(written('json', log => log.error('m', { error }))[0]!) as {
    error: Record<string, string>
  }
  expect(logged.error).toMatchObject({ name: 'TypeError', message: 'first', cause: 'second' })
  expect(logged.error.stack).toContain('log.test.ts')
})

test('fields that name a secret hide it whatever it looks like, and only it', () => {
  const secrets = {
    authorization: 'x',
    Cookie: 'x',
    'set-cookie': 'x',
    token: 'x',
    admin_token: 'x',
    password: ['x'],
    signing_secret: 'x',
    'x-api-key': 'x',
    apiKey: 'x',
  }
  const open = { token_hint: 'a1b2', key_id: 'k', tokens: 3, has_token: true, token: undefined }
  const [line] = written('json', log =>
    log.info('m', {
      secrets,
      open,
      headers: new Headers({ Authorization: 'Token abc' }),
      bytes: new Uint8Array([65]),
    }),
  )
  const {
    secrets: hidden,
    open: kept,
    headers,
    bytes,
  } = JSON.parse(line!) as Record<string, Record<string, unknown>>
  expect(new Set(Object.values(hidden!))).toEqual(new Set(['[redacted]']))
  expect(kept as unknown).toEqual({ token_hint: 'a1b2', key_id: 'k', tokens: 3, has_token: true })
  expect(headers as unknown).toEqual({ authorization: '[redacted]' })
  expect(bytes as unknown).toBe('[1 bytes]')
})

test('a long string is cut after redaction, so that no part of a token is left at the cut', () => {
  const token = 'ab'.repeat(32)
  for (let lead = 8192 - 70; lead <= 8192; lead++) {
    const [line] = written('json', log =>
      log.info(`${'-'.repeat(lead)}${token} ${'-'.repeat(9000)}`),
    )
    expect(line).not.toContain('abab')
    expect(line!.length).toBeLessThan(8400)
  }
})

const token = '0123456789abcdef'.repeat(4)

test.each([
  [`key ${token}.`, 'key [redacted].'],
  [`a${token}0`, '[redacted]'],
  ['Authorization: Token short', 'Authorization: [redacted]'],
  ['authorization: bearer a, Token b\nHost: x', 'authorization: [redacted]\nHost: x'],
  [
    `curl -H 'Authorization: Token ${token}' http://h/p`,
    "curl -H 'Authorization: [redacted]' http://h/p",
  ],
  [
    'bad value Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
    'bad value Bearer [redacted]',
  ],
  ['session eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl ended', 'session [redacted] ended'],
  [
    '/v1/prices/latest?by_code=WTI_USD&api_key=abc&page=2',
    '/v1/prices/latest?by_code=WTI_USD&api_key=[redacted]&page=2',
  ],
  ['/cable?token=abc#top', '/cable?token=[redacted]#top'],
  ['?%61pi%5fkey=abc', '?%61pi%5fkey=[redacted]'],
  ['{\\"token\\":\\"abc\\"}', '{\\"token\\":\\"[redacted]\\"}'],
  ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'signed with [redacted]'],
  ['smtp://mailer:hunter2@mail.example.com:587', 'smtp://mailer:[redacted]@mail.example.com:587'],
  ['the token expired; a bearer of news', 'the token expired; a bearer of news'],
  [
    'hash 0123456789abcdef0123456789abcdef, id 3f2b0c9e-1111-4222-8333-444455556666',
    'hash 0123456789abcdef0123456789abcdef, id 3f2b0c9e-1111-4222-8333-444455556666',
  ],
  ['http://127.0.0.1:8470/v1/prices?code=WTI_USD', 'http://127.0.0.1:8470/v1/prices?code=WTI_USD'],
])('redaction of %j', (text, expected) => {
  expect(redact(text)).toBe(expected)
  expect(redact(redact(text))).toBe(expected)
})

test('redaction takes time in proportion to the text', () => {
  const hostile = [
    'authorization',
    'authorization: a,',
    'token ',
    'eyJaaaaaaaa.',
    '://a:',
    '%61',
    'a1'.repeat(31),
    'api_key',
    ' \t',
  ]
  for (const piece of hostile) {
    const text = `authorization: ${piece.repeat(Math.ceil(400_000 / piece.length))}`
    const started = performance.now()
    redact(text)
    expect(performance.now() - started).toBeLessThan(5000)
  }
})

test('oneLine keeps ordinary text of any language', () => {
  expect(oneLine('Ærø 油价 — 90 €/t')).toBe('Ærø 油价 — 90 €/t')
  expect(oneLine('a\tb\0')).toBe('a\\tb\\u0000')
})
