import type { SwitchName } from './switches.ts'

/** A property of a request that identifies the client that sent it. */
export interface Sign {
  /** A header in lower case, or `method`. */
  of: string
  /** The pattern for the header; undefined: the request must not have it. */
  pattern: RegExp | undefined
  /** The weight of the sign; negative: it counts against the profile. */
  weight: number
}

/** The paths that a switch is for, or is not for; neither: all that it has an effect on. */
export interface Scope {
  only: readonly RegExp[]
  except: readonly RegExp[]
}

export const covers = ({ only, except }: Scope, path: string): boolean =>
  (only.length === 0 || only.some(pattern => pattern.test(path))) &&
  !except.some(pattern => pattern.test(path))

/** The shapes that one sort of client gets. */
export interface ClientProfile {
  name: string
  signs: readonly Sign[]
  /** The weight that the signs of a request must have together. */
  needed: number
  switches: ReadonlyMap<SwitchName, Scope>
  retryAfterCapSeconds: number
}

/** Signs are compared with what clients send, so with no more of it than names a client. */
const comparedCharactersMax = 512

/** The text of a sign in a request; null: absent. */
export type TextOf = (of: string) => string | null

export function isSeen({ of, pattern }: Sign, textOf: TextOf): boolean {
  const text = textOf(of)
  if (text === null || pattern === undefined) return text === null && pattern === undefined
  return pattern.test(text.slice(0, comparedCharactersMax))
}

/** The first profile whose signs a request has. */
export const recognised = (
  profiles: readonly ClientProfile[],
  textOf: TextOf,
): ClientProfile | undefined =>
  profiles.find(
    ({ signs, needed }) =>
      signs.reduce((sum, sign) => sum + (isSeen(sign, textOf) ? sign.weight : 0), 0) >= needed,
  )

/** A path as a profile names it: `:id` or `{id}` is any segment, `*` at the end anything. */
const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace(/[.+?^$()|[\]\\]/g, '\\$&')
      .replace(/:\w+|\{\w+\}/g, '[^/]+')
      .replace(/\*$/, '.*')}$`,
  )

/** The scope of a switch by its paths; those after `!` are left out. */
export const scopeOf = (paths: readonly string[]): Scope => ({
  only: paths.filter(path => !path.startsWith('!')).map(pathPattern),
  except: paths.filter(path => path.startsWith('!')).map(path => pathPattern(path.slice(1))),
})
