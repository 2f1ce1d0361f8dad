import { bundleConsole } from './bundle.ts' with { type: 'macro' }
import type { Bundle } from './bundle.ts'

/** The console's files, built with the program. Loaded when the first page is requested. */
export const bundle = JSON.parse(bundleConsole()) as Bundle
