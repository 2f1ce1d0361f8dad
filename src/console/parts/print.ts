import { signal } from '@preact/signals'

/** Set while a page that is about to be printed loads the parts that were never scrolled to. */
export const loadsAll = signal(false)

const waitMaxMs = 15_000
const stepMs = 100

/** Prints the page with all of its parts: the browser itself would not wait for those that are not loaded. */
export async function printWhole(): Promise<void> {
  loadsAll.value = true
  for (let waited = 0; waited < waitMaxMs; waited += stepMs) {
    await new Promise(done => setTimeout(done, stepMs))
    if (!document.querySelector('main :is(.below, .waiting)')) break
  }
  print()
  loadsAll.value = false
}
