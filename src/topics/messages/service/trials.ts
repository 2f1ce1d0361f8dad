import { publicUrl } from '../../../config/address.ts'
import type { Config } from '../../../config/config.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Handover } from '../../../send/handover.ts'
import type { Mailer } from '../../../send/messages/mailer.ts'
import type { SmsProvider } from '../../../send/messages/sms.ts'
import { noticeHook } from '../../../send/notices/hook.ts'
import { paragraphsHtml } from './mail-html.ts'

/** The result of a test. */
export interface Trial {
  taken: boolean
  statusCode: number | null
  /** A sentence for the operator. */
  message: string
}

/**
 * Tests of the delivery channels, bypassing the outbox: the result contains the reply of the other
 * side.
 */
export type Trials = ReturnType<typeof createTrials>

export interface TrialsDeps {
  config: Config
  mailer: Mailer
  texter: SmsProvider
  clock: Pick<Clock, 'now'>
  ids: Pick<Ids, 'uuid'>
}

const timeoutMs = 30_000

export function createTrials({ config, mailer, texter, clock, ids }: TrialsDeps) {
  const { mail, sms, brand, notices } = config
  const trialOf = (handed: Handover, taken: string): Trial => ({
    taken: handed.accepted,
    statusCode: handed.statusCode,
    message: handed.accepted ? taken : handed.reason,
  })
  const unset = (message: string): Trial => ({ taken: false, statusCode: null, message })
  return {
    async mail(to: string) {
      if (mail.provider === 'none')
        return unset('mail.provider is none: e-mails are not sent. Set it to smtp or resend.')
      const page = `${publicUrl(config.server).replace(/\/$/, '')}/operator/system`
      const text = `${brand.serviceName} can send e-mail to this address.\n\nTest the other delivery channels at ${page}\n`
      const mailMessage = {
        from: brand.sender,
        to,
        subject: `Test e-mail from ${brand.serviceName}`,
        text,
        html: paragraphsHtml(text, page),
        postedAt: clock.now(),
      }
      const sending = {
        key: ids.uuid(),
        repeated: false,
        signal: AbortSignal.timeout(timeoutMs),
      }
      return trialOf(
        await mailer.send(mailMessage, sending),
        `The e-mail to ${to} was accepted by ${mail.provider}, from ${brand.sender}.`,
      )
    },
    async text(to: string) {
      if (sms.provider === 'log')
        return unset('sms.provider is log: text messages are not sent. Set it to twilio.')
      const message = { to, text: `${brand.serviceName}: text messages arrive here.` }
      return trialOf(
        await texter.send(message, ids.uuid()),
        `The message to ${to} was accepted by ${sms.provider}.`,
      )
    },
    /** To the address that the operator's notices go to. */
    async notice() {
      const url = notices.url.reveal()
      if (url === '') return unset('notices.url is empty: notices are not posted.')
      const at = clock.now()
      try {
        await noticeHook(url, notices.format, brand.serviceName).send([
          {
            operatorAlert: 'test',
            kind: 'test',
            text: `A test, sent at ${isoInstant(at)}. Notices arrive here.`,
            since: at,
            at,
          },
        ])
        return { taken: true, statusCode: null, message: 'The notice was accepted.' }
      } catch (error) {
        return unset(`The notice was rejected: ${(error as Error).message}`)
      }
    },
  }
}
