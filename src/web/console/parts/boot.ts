import type { Boot } from '../paths.ts'

const content = document.querySelector<HTMLMetaElement>('meta[name="boot"]')?.content

/** What the server says of this copy and of who looks at it. */
export const boot: Boot = JSON.parse(content ?? '{}') as Boot

const loadedAt = performance.now()

/** The clock of this copy, Unix ms: an evaluation copy may stand in another year. */
export const now = (): number => boot.now + performance.now() - loadedAt
