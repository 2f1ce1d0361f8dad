import type { Boot } from '../paths.ts'
import { look } from './look.ts'

const content = document.querySelector<HTMLMetaElement>('meta[name="boot"]')?.content

/** What the server says of this copy and of who looks at it. */
export const boot: Boot = JSON.parse(content ?? '{}') as Boot
// Who looks through the eyes of an account sees the pages of members.
if (look) boot.isSignedIn = true

const loadedAt = performance.now()

/** The clock of this copy, Unix ms: an evaluation copy may stand in another year. */
export const now = (): number => boot.now + performance.now() - loadedAt
