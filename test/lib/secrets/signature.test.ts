import { describe, expect, test } from 'bun:test'
import { createHmac, timingSafeEqual } from 'node:crypto'
import fc from 'fast-check'
import {
  bodySignature,
  standardSignature,
  timestampedSignature,
} from '../../../src/lib/secrets/signature.ts'
import { runs as sweep } from '../../support/full.ts'

const runs = process.env.WELLHEAD_TORTURE === '1' ? 10_000 : sweep(300)

/** HMAC-SHA256 from its definition (RFC 2104), over the bare hash. */
function hmacByHand(key: Uint8Array, message: Uint8Array): Buffer {
  const sha = (...parts: Uint8Array[]) => {
    const hash = new Bun.CryptoHasher('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha(key) : key)
  return Buffer.from(
    sha(
      block.map(byte => byte ^ 0x5c),
      sha(
        block.map(byte => byte ^ 0x36),
        message,
      ),
    ),
  )
}

/**
 * As receivers with the Standard Webhooks libraries verify: the key is base64 after the prefix, any
 * of the signatures may match.
 */
function standardVerifies(
  secret: string,
  headers: { id: string; timestamp: number; signature: string },
  body: string,
): boolean {
  const key = Buffer.from(secret.startsWith('whsec_') ? secret.slice(6) : secret, 'base64')
  const expected = createHmac('sha256', key)
    .update(`${headers.id}.${headers.timestamp}.${body}`)
    .digest()
  return headers.signature.split(' ').some(versioned => {
    const [version, signature = ''] = versioned.split(',')
    const bytes = Buffer.from(signature, 'base64')
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

const payload = fc.string({ unit: 'binary', maxLength: 300 })
const hexSecret = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 48, maxLength: 48 })
  .map(text => `whsec_${text}`)
const ownSecret = fc.string({ unit: 'grapheme-ascii', minLength: 16, maxLength: 128 })
const seconds = fc.integer({ min: 0, max: 4_102_444_800 })

describe('the signature of a delivery', () => {
  test('verifies over body, dot and timestamp with HMAC written out by hand', () => {
    fc.assert(
      fc.property(payload, fc.oneof(hexSecret, ownSecret), seconds, (body, secret, timestamp) => {
        const message = Buffer.concat([Buffer.from(body), Buffer.from(`.${timestamp}`)])
        expect(timestampedSignature(secret, body, timestamp)).toBe(
          hmacByHand(Buffer.from(secret), message).toString('hex'),
        )
        expect(bodySignature(secret, body)).toBe(
          `sha256=${hmacByHand(Buffer.from(secret), Buffer.from(body)).toString('hex')}`,
        )
      }),
      { numRuns: runs },
    )
  })

  test('in the Standard Webhooks header verifies with every secret that signs, and with no other', () => {
    fc.assert(
      fc.property(
        payload,
        fc.array(hexSecret, { minLength: 2, maxLength: 3 }),
        seconds,
        (body, [stranger, ...secrets], timestamp) => {
          const headers = {
            id: 'evt_01hzzzzzzzzzzzzzzzzzzzzzzz',
            timestamp,
            signature: standardSignature(
              secrets,
              'evt_01hzzzzzzzzzzzzzzzzzzzzzzz',
              timestamp,
              body,
            ),
          }
          for (const secret of secrets) expect(standardVerifies(secret, headers, body)).toBe(true)
          expect(standardVerifies(stranger!, headers, body)).toBe(secrets.includes(stranger!))
          expect(
            standardVerifies(secrets[0]!, { ...headers, timestamp: timestamp + 1 }, body),
          ).toBe(false)
          expect(standardVerifies(secrets[0]!, headers, `${body} `)).toBe(false)
        },
      ),
      { numRuns: runs },
    )
  })

  test('signatures of a delivery match an independent HMAC and the example of Standard Webhooks', () => {
    const secret = 'whsec_0123456789abcdef0123456789abcdef0123456789abcdef'
    expect(timestampedSignature(secret, '{"a":1}', 1_700_000_000)).toBe(
      createHmac('sha256', secret).update('{"a":1}.1700000000').digest('hex'),
    )
    // The example of the Standard Webhooks specification.
    expect(
      standardSignature(
        ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
        'msg_p5jXN8AQM9LWM0D4loKWxJek',
        1_614_265_330,
        '{"test": 2432232314}',
      ),
    ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test("a caller's own secret that is not base64 is its bytes", () => {
    const secret = 'not base64, but long enough!'
    const expected = createHmac('sha256', Buffer.from(secret)).update('evt_1.5.{}').digest('base64')
    expect(standardSignature([secret], 'evt_1', 5, '{}')).toBe(`v1,${expected}`)
  })
})
