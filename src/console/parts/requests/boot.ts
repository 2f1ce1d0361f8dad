import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { type Action, may } from '../../../plans/roles/roles.ts'
import type { Boot } from '../../paths.ts'
import { impersonation } from '../person/impersonation.ts'

const content = document.querySelector<HTMLMetaElement>('meta[name="boot"]')?.content

/** Facts from the server about this instance and the user of the page. */
export const boot: Boot = JSON.parse(content ?? '{}') as Boot
// An operator who impersonates an account sees the pages of members.
if (impersonation) {
  boot.isSignedIn = true
  boot.role = 'read_only'
}

/** Whether the role of the user in their organization allows an action. */
export const mayDo = (action: Action): boolean => may(boot.role, action)

/** How far the clock of this instance is ahead of the time since this document was loaded. */
let ahead = boot.now - performance.now()

/** The clock of this instance, Unix ms: a demo instance may be in another year. */
export const now = (): number => ahead + performance.now()

/** The day so many days ago, by that clock. */
export const dayAgo = (days: number): string => isoDay(now() - days * dayMs)

/** Sets the clock after it was moved; ages on the page use the new time. */
export const setNow = (at: number): void => {
  ahead = at - performance.now()
}
