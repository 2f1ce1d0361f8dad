import { signal } from '@preact/signals'
import { once } from '../../../lib/once.ts'
import type { UserAnswer as Caller } from '../../../topics/keys/operations/usage.ts'
import { ask } from '../requests/ask.ts'
import { boot } from '../requests/boot.ts'
import { mePath } from '../requests/first.ts'

/** The signed-in user; undefined until the API has returned it, and for anonymous visitors. */
export const caller = signal<Caller | undefined>(undefined)

/** Why it is not known who is signed in. */
export const callerRefusal = signal<Error | undefined>(undefined)

const load = once(() => ask<Caller>(mePath))

/** Asks once who is signed in; after a refusal, the next page tries again. */
export async function whoIsThere(): Promise<void> {
  if (!boot.isSignedIn) return
  try {
    caller.value = await load()
    callerRefusal.value = undefined
  } catch (error) {
    callerRefusal.value = error as Error
  }
}

export const has = (feature: string): boolean => caller.value?.features.includes(feature) ?? false
