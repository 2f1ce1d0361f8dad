import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { type Address, createEgress, type Egress } from '../../../src/send/egress/egress.ts'
import { createWebhookSender } from '../../../src/send/webhooks/webhook.ts'

const ipv4 = (address: string): Address => ({ address, family: 4 })
const ipv6 = (address: string): Address => ({ address, family: 6 })

const deliver = (guard: Egress, url: string) =>
  createWebhookSender({
    egress: guard,
    clock: createSystemClock(),
    headerPrefix: 'X-Service-',
    userAgent: 'test',
  }).send(
    { eventId: 'evt_1', eventType: 'x', body: '{}' },
    { target: { url, secrets: ['s'], scheme: 'timestamped' } },
    new AbortController().signal,
  )

const loopback = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0177.1',
  '00000177.0.0.1',
  '127.0.0.1.',
  '127.0x0.0.1',
  '0X7F.0.0.0X1',
  '0x7f.0.0.0x01',
  '127.0.0.0x1',
  '127.00.00.01',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[0000::0001]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::FFFF:7F00:0001]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2002:7f00:0001::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'foo.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'loc%61lhost',
]

const privateRanges = [
  '10.0.0.1',
  '10.255.255.255',
  '10.1',
  '167772161',
  '0xa000001',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '0xac100001',
  '192.168.0.1',
  '192.168.1',
  '0xc0a80001',
  '3232235521',
  '0300.0250.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '4294967295',
  '0.1.2.3',
  '[fc00::1]',
  '[fd12:3456:789a::1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:a00:1]',
  '[::ffff:192.168.0.1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b::c0a8:1]',
  '[2002:a00:1::]',
  '[2001::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[ff02::1]',
  '[fec0::1]',
  '[4000::1]',
  '[5f00::1]',
  '[::2]',
  '[::a00:1]',
]

const linkLocalAndMetadata = [
  '169.254.169.254',
  '169.254.150.2',
  '169.254.0.1',
  '2852039166',
  '0xa9fea9fe',
  '0xa9.0xfe.0xa9.0xfe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::169.254.169.254]',
  '[2002:a9fe:a9fe::]',
  '[fe80::1]',
  '[febf::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]

const malformed = [
  'https://user@93.184.215.14/',
  'https://user:secret@93.184.215.14/',
  'https://:@93.184.215.14/',
  'https://93.184.215.14@127.0.0.1/',
  'https://@93.184.215.14/',
  'http://93.184.215.14/',
  'ftp://93.184.215.14/',
  'file:///etc/passwd',
  'gopher://93.184.215.14/',
  'data:text/plain,x',
  'https:93.184.215.14',
  'https:/93.184.215.14',
  'https:\\\\93.184.215.14',
  'https://93.184.215.14\\@127.0.0.1/',
  'https://93.184.215.14 /',
  'https://93.184.215.14/\n',
  'https://93.184\t.215.14/',
  '//93.184.215.14/',
  '93.184.215.14',
  '',
  'https://',
  'https:///hook',
  'https://?x',
  'https://93.184.215.14:22/',
  'https://93.184.215.14:25/',
  'https://93.184.215.14:6667/',
  'https://93.184.215.14:0/',
  'https://93.184.215.14:65536/',
  'https://[fe80::1%25eth0]/',
  'https://127.0.0.1%00.example.com/',
  'https://256.1.1.1/',
  'https://1.2.3.4.5/',
  `https://example.com/${'a'.repeat(2100)}`,
  'javascript:alert(1)',
  'https://exa mple.com/',
  'https://[::1',
  'https://[::1]x/',
  'https://foo.0x4/',
]

const hosts = [...loopback, ...privateRanges, ...linkLocalAndMetadata]
const spellings = [...hosts.map(host => `https://${host}/hook`), ...malformed]

describe('a target', () => {
  const guard = createEgress([], async () => [])

  test('in none of the 150 spellings of a closed place is accepted', () => {
    expect(new Set(spellings).size).toBeGreaterThanOrEqual(150)
    expect(spellings.filter(url => guard.checkTarget(url) === undefined)).toEqual([])
  })

  test('in none of these spellings is connected to', async () => {
    let connections = 0
    const listener = createServer(socket => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
    const { port } = listener.address() as { port: number }
    // The resolver maps every name to this machine.
    const guard = createEgress([], async () => [ipv4('127.0.0.1')])
    const urls = [
      ...hosts.flatMap(host => [`https://${host}:${port}/`, `http://${host}:${port}/`]),
      ...malformed,
      `https://name.example:${port}/`,
    ]
    const outcomes = await Promise.all(urls.map(url => deliver(guard, url)))
    const without = connections
    // The listener would have noticed.
    await deliver(
      createEgress(['127.0.0.0/8'], async () => []),
      `http://127.1:${port}/`,
    )
    await new Promise<void>(done => listener.close(() => done()))
    expect(outcomes.filter(outcome => outcome.state !== 'failed')).toEqual([])
    expect({ without, connections }).toEqual({ without: 0, connections: 1 })
  })

  test('on the public internet is accepted, by name, by address and on the usual ports', () => {
    const open = [
      'https://example.com/hook',
      'https://example.com:8443/a?b=c#d',
      'https://93.184.215.14/',
      'https://[2606:2800:21f:cb07::1]/',
      'HTTPS://EXAMPLE.COM',
    ]
    expect(open.map(guard.checkTarget)).toEqual(open.map(() => undefined))
  })

  test('an egress target is refused with a sentence that states what would be valid', () => {
    expect(guard.checkTarget('http://example.com/')).toBe('must be an https address.')
    expect(guard.checkTarget('https://10.0.0.1/')).toBe(
      'must be an address on the public internet.',
    )
    expect(guard.checkTarget('https://a:b@example.com/')).toBe(
      'must not contain a user name or password.',
    )
    expect(guard.checkTarget('https://example.com:25/')).toBe(
      'must not name port 25, which is for another service.',
    )
    expect(guard.checkTarget('example.com')).toBe(
      'must be an https address such as https://example.com/hook.',
    )
  })
})

describe('a name', () => {
  const route = (addresses: Address[], allow: string[] = [], url = 'https://hook.example.com/') =>
    createEgress(allow, async () => addresses).route(url)

  test('a host name that resolves to a blocked address is refused, even if it also resolves to an allowed one', async () => {
    const closed = [
      ...[
        '127.0.0.1',
        '10.0.0.1',
        '169.254.169.254',
        '0.0.0.0',
        '100.64.0.1',
        '0177.0.0.1',
        '2130706433',
        '',
      ].map(ipv4),
    ]
    const closed6 = [
      ...[
        '::1',
        '::ffff:127.0.0.1',
        '::127.0.0.1',
        'fe80::1',
        'fe80::1%eth0',
        '64:ff9b::a00:1',
        '2002:7f00:1::',
        'fd00::1',
      ].map(ipv6),
    ]
    for (const address of [...closed, ...closed6]) {
      expect(await route([address])).toEqual({
        refused: 'the target must be an address on the public internet',
      })
      expect(await route([ipv4('93.184.215.14'), address])).toHaveProperty('refused')
    }
    expect(await route([])).toHaveProperty('refused')
  })

  test('a host name is resolved once per attempt, and the connection uses that result', async () => {
    let lookups = 0
    // The first answer is a place that is open here, every later one is this machine.
    const rebinding = createEgress(['127.0.0.2/32', '10.0.0.0/8'], async () => {
      lookups += 1
      return [ipv4(lookups === 1 ? '127.0.0.2' : '127.0.0.1')]
    })
    const reached: (string | undefined)[] = []
    const listener = createServer(socket => {
      reached.push(socket.localAddress)
      socket.resume()
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    await new Promise<void>(done => listener.listen(0, '0.0.0.0', done))
    const { port } = listener.address() as { port: number }
    const url = `http://hook.example.com:${port}/`
    const [first, second] = [await deliver(rebinding, url), await deliver(rebinding, url)]
    await new Promise<void>(done => listener.close(() => done()))
    expect({ firstState: first.state, secondState: second.state, error: second.error }).toEqual({
      firstState: 'delivered',
      secondState: 'failed',
      error: 'the target must be an address on the public internet',
    })
    expect({ reached, lookups }).toEqual({ reached: ['127.0.0.2'], lookups: 2 })
  })

  test('with IPv4 and IPv6 is reached over IPv4 first', async () => {
    expect(await route([ipv6('2606:2800:21f:cb07::1'), ipv4('93.184.215.14')])).toMatchObject({
      addresses: [ipv4('93.184.215.14'), ipv6('2606:2800:21f:cb07::1')],
    })
  })
})

describe('networks that the operator opens', () => {
  test('are reached over http too, and nothing else is', async () => {
    const guard = createEgress(['10.1.0.0/16', 'fd12::/16'], async name => [
      ipv4(name === 'inside.example' ? '10.1.2.3' : '10.2.0.1'),
    ])
    for (const url of [
      'http://10.1.2.3:9/hook',
      'https://10.1.2.3/',
      'http://[fd12::5]:8080/',
      'http://inside.example/',
    ]) {
      expect(guard.checkTarget(url)).toBeUndefined()
      expect(await guard.route(url)).toHaveProperty('addresses')
    }
    expect(guard.checkTarget('http://10.2.0.1/')).toBeString()
    expect(await guard.route('http://outside.example/')).toHaveProperty('refused')
    expect(guard.checkTarget('http://localhost/')).toBeString()
  })

  test('do not open an http address on the public internet', async () => {
    const guard = createEgress(['10.0.0.0/8'], async () => [ipv4('93.184.215.14')])
    expect(await guard.route('http://example.com/')).toEqual({
      refused: 'the target must be an https address',
    })
    expect(await guard.route('https://example.com/')).toHaveProperty('addresses')
  })

  test('never open metadata services and link-local addresses', () => {
    const guard = createEgress(['0.0.0.0/0', '::/0'], async () => [])
    expect(
      linkLocalAndMetadata.filter(host => guard.checkTarget(`http://${host}/`) === undefined),
    ).toEqual([])
  })

  test('loopback opens this machine by every name of it, and no other name over http', () => {
    const guard = createEgress(['127.0.0.0/8', '::1/128'], async () => [])
    for (const host of ['127.0.0.1:9', 'localhost:3000', '[::1]:3000', 'app.localhost', '127.1'])
      expect(guard.checkTarget(`http://${host}/hook`)).toBeUndefined()
    expect(guard.checkTarget('http://hook.example.com/')).toBe('must be an https address.')
    expect(guard.checkTarget('http://10.0.0.1/')).toBeString()
  })
})
