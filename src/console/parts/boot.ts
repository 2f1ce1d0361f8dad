import type { Boot } from '../paths.ts'
import { impersonation } from './impersonation.ts'

const content = document.querySelector<HTMLMetaElement>('meta[name="boot"]')?.content

/** What the server says of this copy and of who looks at it. */
export const boot: Boot = JSON.parse(content ?? '{}') as Boot
// Who looks through the eyes of an account sees the pages of members.
if (impersonation) boot.isSignedIn = true

/** What the clock of this copy is ahead of the time since this document was begun. */
let ahead = boot.now - performance.now()

/** The clock of this copy, Unix ms: an evaluation copy may stand in another year. */
export const now = (): number => ahead + performance.now()

/** The clock was moved: whatever says how old something is goes by the new time. */
export const setNow = (at: number): void => {
  ahead = at - performance.now()
}
