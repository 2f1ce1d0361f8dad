import { afterAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../../src/instance/app/app.ts'
import { openDirectory } from '../../../src/instance/services/directory.ts'
import type { Services } from '../../../src/instance/services/services.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const dir = temporaryDir()
afterAll(() => remove(dir))

/** The services of the directory, opened as a server opens them. */
function opened(takesNewMasterKey: boolean): Services {
  const { config, clock, log } = openTestInstance().services
  const ids = createRandomIds()
  const runtime = { config, clock, ids, log, takesNewMasterKey }
  return openDirectory({ runtime, dir, serving: true }).services
}

test('endpoints sign with their new secrets from the start that takes a new master key', async () => {
  const before = opened(false)
  const account = before.keys.putAccount({
    id: before.ids.uuid(),
    email: 'a@example.com',
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: before.clock.now(),
    suspendedAt: null,
    createdAt: before.clock.now(),
  })
  const { token } = before.keys.addKey(account)
  const made = await createApp(before).handle(
    new Request('http://localhost/v1/webhooks', {
      method: 'POST',
      headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://hooks.example.com/x', events: ['price.updated'] }),
    }),
  )
  expect(made.status).toBe(201)
  before.db.close()

  rmSync(join(dir, 'master.key'))
  const after = opened(true)
  const [endpoint] = after.webhooks.list(account.account.id)
  // As the outbox looks it up.
  const known = after.webhooks.byId(endpoint!.id)
  expect(after.webhooks.secrets(known!)).toEqual([expect.stringMatching(/^whsec_/)])
  after.db.close()
})
