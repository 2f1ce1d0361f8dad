import type { Config } from '../config.ts'
import { isoInstant } from '../lib/instant.ts'
import { noticeHook } from '../send/notices/hook.ts'

/** Posts a notice to the configured address; 0 when it was taken. */
export async function testNotices(
  { notices, brand }: Config,
  now: number,
  { out, err }: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const url = notices.url.reveal()
  if (notices.mail !== '')
    out(
      `Mail to ${notices.mail} goes through the outbox of the running server: wellhead doctor looks at it.`,
    )
  if (url === '') {
    if (notices.mail !== '') return 0
    err('notices go nowhere: set notices.url or notices.mail')
    return 1
  }
  try {
    await noticeHook(url, notices.format, brand.serviceName).send({
      matter: 'test',
      kind: 'test',
      text: `A test, sent at ${isoInstant(now)}. Notices arrive here.`,
      since: now,
      at: now,
    })
    out('The notice was taken.')
    return 0
  } catch (error) {
    err(`notices.url: the notice was not taken: ${(error as Error).message}`)
    return 1
  }
}
