import { signal } from '@preact/signals'
import type { UserAnswer as Caller } from '../../../topics/keys/operations/usage.ts'
import { ask } from '../requests/ask.ts'
import { boot } from '../requests/boot.ts'
import { mePath } from '../requests/first.ts'

/** The signed-in user; undefined until the API has returned it, and for anonymous visitors. */
export const caller = signal<Caller | undefined>(undefined)

/** Why it is not known who is signed in. */
export const callerRefusal = signal<Error | undefined>(undefined)

let loading: Promise<Caller | undefined> | undefined

/** Asks once who is signed in. */
export function whoIsThere(): Promise<Caller | undefined> {
  if (!boot.isSignedIn) return Promise.resolve(undefined)
  loading ??= ask<Caller>(mePath).then(
    answer => {
      caller.value = answer
      callerRefusal.value = undefined
      return answer
    },
    error => {
      // The next page tries again.
      loading = undefined
      callerRefusal.value = error as Error
      return undefined
    },
  )
  return loading
}

export const has = (feature: string): boolean => caller.value?.features.includes(feature) ?? false
