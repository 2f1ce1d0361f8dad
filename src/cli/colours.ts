import { styleText } from 'node:util'
import type { ProgramEnvironment } from './environment.ts'

const styles = { ok: 'green', warning: 'yellow', error: 'red' } as const

/** Colours the word of a status. */
export type Paint = (verdict: keyof typeof styles, word: string) => string

/** Colours for a terminal; none if output goes elsewhere or NO_COLOR is set (no-color.org). */
export function paintFor({
  isTerminal = false,
  env,
}: Pick<ProgramEnvironment, 'isTerminal' | 'env'>): Paint {
  if (!isTerminal || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb') return (_, word) => word
  return (verdict, word) => styleText(styles[verdict], word, { validateStream: false })
}
