import type { ProcessRuntime } from '../config/runtime.ts'
import { isoInstant } from '../lib/time/instant.ts'
import { noticeHook } from '../send/notices/hook.ts'
import { testMail } from './mail.ts'

/**
 * Sends a notice immediately to each configured place, without the outbox; 0 if all of them
 * accepted it.
 */
export async function testNotices(
  runtime: ProcessRuntime,
  env: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const { notices, brand } = runtime.config
  const url = notices.url.reveal()
  if (url === '' && notices.mail === '') {
    env.err('no notice channel is configured: set notices.url or notices.mail')
    return 1
  }
  // Each place is tried, also after one that refused.
  const posted = url === '' ? 0 : await testHook(runtime, url, brand.serviceName, env)
  const mailed = notices.mail === '' ? 0 : await testMail(runtime, notices.mail, env)
  return Math.max(posted, mailed)
}

async function testHook(
  { config, clock }: ProcessRuntime,
  url: string,
  service: string,
  { out, err }: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const now = clock.now()
  try {
    await noticeHook(url, config.notices.format, service).send([
      {
        operatorAlert: 'test',
        kind: 'test',
        text: `A test, sent at ${isoInstant(now)}. Notices arrive here.`,
        since: now,
        at: now,
      },
    ])
    out('The notice was accepted.')
    return 0
  } catch (error) {
    err(`notices.url: the notice was rejected: ${(error as Error).message}`)
    return 1
  }
}
