import { describe, expect, test } from 'bun:test'
import { type Asked, codeOf, type Person, people } from '../../../support/topics/people.ts'

const path = '/v1/display_preferences'
const token = ({ key }: Person) => `Token ${key}`
const first = {
  scheme: 'system',
  density: 'normal',
  time_zone: 'UTC',
  number_format: 'decimal_point',
  move_colours: 'blue_orange',
  updated_at: null,
}
const faultsOf = ({ body }: Asked) => body.errors as { field: string; message: string }[]

describe('display preferences', () => {
  test('are the defaults until they are changed, and what a change does not name stays', async () => {
    const { ask, person } = people()
    const ann = token(person('ann'))
    expect((await ask('GET', path, ann)).body).toEqual(first)
    const changed = { time_zone: 'Asia/Kolkata', number_format: 'decimal_comma' }
    const { updated_at: _, ...others } = first
    expect((await ask('PATCH', path, ann, changed)).body).toMatchObject({ ...others, ...changed })
    const again = { move_colours: 'green_red', scheme: 'dark', density: 'dense' }
    const { body } = await ask('PATCH', path, ann, again)
    expect(body).toMatchObject({ ...changed, ...again, updated_at: expect.any(String) })
    expect((await ask('GET', path, ann)).body).toEqual(body)
  })

  test('belong to a person, with a key or a session, and not to the organization', async () => {
    const { ask, person, signedIn, mailMessages } = people()
    const [ann, bob] = [person('ann', 'scale'), person('bob', 'free')]
    const { body } = await ask('POST', '/organizations/invitations', token(ann), {
      email: bob.email,
      role: 'read_only',
    })
    expect(mailMessages(bob.email)).not.toEqual([])
    const { id } = body.invitation as { id: string }
    await ask('POST', `/organizations/invitations/${id}/confirm_accept`, token(bob))
    const session = `Bearer ${await signedIn(bob)}`
    const { status } = await ask('PATCH', path, session, { time_zone: 'europe/berlin' })
    expect(status).toBe(200)
    expect((await ask('GET', path, token(bob))).body.time_zone).toBe('Europe/Berlin')
    expect((await ask('GET', path, token(ann))).body).toEqual(first)
  })

  test.each([
    [{ scheme: 'drak' }, 'scheme', 'Did you mean dark?'],
    [{ density: 'denes' }, 'density', 'Did you mean dense?'],
    [{ time_zone: 'Europe/Berln' }, 'time_zone', 'Did you mean Europe/Berlin?'],
    [{ time_zone: 'browsr' }, 'time_zone', 'Did you mean browser?'],
    [{ time_zone: 'EST' }, 'time_zone', 'must be UTC, browser or the IANA name'],
    [{ time_zone: 5 }, 'time_zone', 'must be text'],
    [{ number_format: 'decimal_coma' }, 'number_format', 'Did you mean decimal_comma?'],
    [{ move_colours: 'green-red' }, 'move_colours', 'Did you mean green_red?'],
  ])('%j is refused by its field, with the nearest right value', async (body, field, words) => {
    const { ask, person } = people()
    const ann = token(person('ann'))
    const refused = await ask('PATCH', path, ann, body)
    expect(refused.status).toBe(422)
    expect(faultsOf(refused)).toEqual([
      expect.objectContaining({ field, message: expect.stringContaining(words) }),
    ])
    expect((await ask('GET', path, ann)).body).toEqual(first)
  })

  test('are read with a read-only key, and not changed', async () => {
    const { ask, person } = people()
    const made = await ask('POST', '/v1/api-keys', token(person('ann')), {
      name: 'reads',
      read_only: true,
    })
    const reader = `Token ${/"plain_token":"([^"]+)"/.exec(JSON.stringify(made.body))![1]}`
    expect((await ask('GET', path, reader)).status).toBe(200)
    const refused = await ask('PATCH', path, reader, { scheme: 'dark' })
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({
      status: 403,
      code: 'KEY_READ_ONLY',
    })
  })

  test('are in the document of the console, so that its first paint has them', async () => {
    const { ask, person, signedIn } = people()
    const ann = person('ann')
    const cookie = { cookie: `session=${await signedIn(ann)}` }
    const bootOf = async () => {
      const { body } = await ask('GET', '/status', undefined, undefined, cookie)
      return String(body.text)
        .match(/"boot" content="([^"]*)"/)![1]!
        .replaceAll('&quot;', '"')
    }
    expect(JSON.parse(await bootOf())).toMatchObject({ display: null })
    await ask('PATCH', path, token(ann), { scheme: 'dark' })
    expect(JSON.parse(await bootOf())).toMatchObject({ display: { scheme: 'dark' } })
  })
})
