import type { Filler } from '../../../src/demo/filler.ts'
import {
  createDrillingFillers,
  type DrillingFillerDeps,
} from '../../../src/topics/drilling/demo/drilling.ts'

/** All counts of drilling as one filler, one family after the other. */
export function createDrillingFiller(deps: DrillingFillerDeps): Required<Filler> {
  const fillers = Object.values(createDrillingFillers(deps))
  return {
    step: budgetMs => fillers.some(filler => filler.step(budgetMs)),
    advance: now => fillers.reduce((count, filler) => count + Number(filler.advance(now)), 0),
  }
}
