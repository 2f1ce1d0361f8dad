import { type Config, ConfigProblem } from '../../../config/config.ts'
import type { Runtime } from '../../../config/runtime.ts'
import type { InboxStore } from '../../../outbox/store/inbox.ts'
import { withoutAddress } from '../../../send/handover.ts'
import type { Mailer } from '../../../send/messages/mailer.ts'
import { createResendMailer } from '../../../send/messages/mailer-resend.ts'
import { createSmtpMailer } from '../../../send/messages/mailer-smtp.ts'
import type { SmsProvider } from '../../../send/messages/sms.ts'
import { createTwilioSmsProvider } from '../../../send/messages/sms-twilio.ts'
import { noteHandover, type ProviderWatch } from '../../../send/provider-watch.ts'
import { createCapturingMailer, createDisabledMailer } from './mail-sender.ts'
import { createCapturingSmsProvider, createLoggingSmsProvider } from './sms-sender.ts'

export interface ProviderDeps extends Pick<Runtime, 'config' | 'log' | 'clock'> {
  inbox: Pick<InboxStore, 'add'>
}

/** The faults of the providers of e-mail and text messages, where there are any. */
export type ProviderFaults = Readonly<Record<'email' | 'sms', () => string | undefined>>

/** A mailer whose attempts `watch` takes in. */
export const watchedMailer = (mailer: Mailer, watch: ProviderWatch): Mailer => ({
  send: async (mailMessage, sending) =>
    noteHandover(watch, withoutAddress(await mailer.send(mailMessage, sending), mailMessage.to)),
})

/** The same of text messages. */
export const watchedTexter = (texter: SmsProvider, watch: ProviderWatch): SmsProvider => ({
  send: async (message, key) =>
    noteHandover(watch, withoutAddress(await texter.send(message, key), message.to)),
})

/** The configured mailer. Throws when a required setting is missing. */
export function mailerOf({ config, inbox, clock, log }: ProviderDeps): Mailer {
  const { mail, mode } = config
  switch (mail.provider) {
    case 'resend':
      return createResendMailer({
        key: needed('mail', 'resend', 'mail.resend_key', mail.resendKey.reveal()),
        url: mail.resendUrl,
        now: clock.now,
      })
    case 'smtp':
      return smtpMailerOf(needed('mail', 'smtp', 'mail.smtp_url', mail.smtpUrl.reveal()))
    case 'capture':
      onlyInDev('mail', mode)
      return createCapturingMailer(inbox, clock.now)
    case 'none':
      return createDisabledMailer(() =>
        log.warn('mail_provider_missing', {
          message: 'No mail provider is configured: e-mails are not sent. Set mail.provider.',
        }),
      )
  }
}

/** The configured provider of text messages. Throws when a required setting is missing. */
export function smsProviderOf({ config, inbox, clock, log }: ProviderDeps): SmsProvider {
  const { sms, mode } = config
  switch (sms.provider) {
    case 'twilio':
      return createTwilioSmsProvider({
        account: needed('sms', 'twilio', 'sms.twilio_account', sms.twilioAccount),
        token: needed('sms', 'twilio', 'sms.twilio_token', sms.twilioToken.reveal()),
        from: needed('sms', 'twilio', 'sms.twilio_from', sms.twilioFrom),
        url: sms.twilioUrl,
      })
    case 'capture':
      onlyInDev('sms', mode)
      return createCapturingSmsProvider(inbox, clock.now)
    case 'log':
      return createLoggingSmsProvider(log)
  }
}

function smtpMailerOf(url: string): Mailer {
  try {
    return createSmtpMailer({ url })
  } catch (error) {
    throw new ConfigProblem([(error as Error).message])
  }
}

function needed(section: string, provider: string, key: string, value: string): string {
  if (value === '')
    throw new ConfigProblem([
      `${key} must be set, because ${section}.provider is ${provider}; or choose another provider.`,
    ])
  return value
}

function onlyInDev(section: string, mode: Config['mode']): void {
  if (mode !== 'dev')
    throw new Error(
      `${section}.provider: capture is for the command dev and never sends. Choose another provider.`,
    )
}
