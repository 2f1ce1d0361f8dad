import { createApp } from '../../../src/instance/app/app.ts'
import { openTestInstance } from './instance.ts'

/**
 * A program that prints how the newest price of a code is returned: as `promise`, or its status.
 */
const instance = openTestInstance()
instance.record('WTI_USD', [70, 71], instance.clock.now(), 60_000)
const answer = createApp(instance.services).fetch(
  new Request('http://localhost/v1/prices/latest?by_code=WTI_USD', {
    headers: { host: 'localhost', authorization: `Token ${instance.key()}` },
  }),
)
console.log(answer instanceof Promise ? 'promise' : answer.status)
process.exit(0)
