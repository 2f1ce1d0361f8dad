import type { ProcessRuntime } from '../config/runtime.ts'
import { wrongValue } from '../lib/text/wrong-value.ts'
import { plainAddress } from '../send/messages/mailer.ts'
import { mailerOf } from '../topics/messages/service/providers.ts'

const timeoutMs = 30_000

/**
 * Sends an e-mail immediately, without the outbox, and prints the result; 0 if the provider
 * accepted it.
 */
export async function testMail(
  { config, clock, ids, log }: ProcessRuntime,
  to: string,
  { out, err }: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const { mail, brand } = config
  if (mail.provider === 'none') {
    err('mail.provider is none: e-mails are not sent. Set it to smtp or resend')
    return 1
  }
  if (plainAddress(to) === undefined) {
    err(wrongValue('address', 'an e-mail address', to))
    return 1
  }
  const mailer = mailerOf({ config, clock, log, inbox: { add() {} } })
  const sent = await mailer.send(
    {
      from: brand.sender,
      to,
      subject: `Test e-mail from ${brand.serviceName}`,
      text: `${brand.serviceName} can send e-mail to this address.\n`,
      postedAt: clock.now(),
    },
    { key: ids.uuid(), repeated: false, signal: AbortSignal.timeout(timeoutMs) },
  )
  if (sent.accepted) {
    out(`The e-mail to ${to} was accepted by ${mail.provider}, from ${brand.sender}.`)
    return 0
  }
  const { statusCode, reason } = sent
  err(
    `mail: the e-mail was not accepted${statusCode === null ? '' : ` (${statusCode})`}: ${reason}`,
  )
  return 1
}
