import { setDefaultTimeout } from 'bun:test'

// `bun test FILE` has no flag for a time limit in its configuration, and the limit of 5 seconds is
// too short for tests that start servers. The test scripts pass their own limit.
if (process.env.TEST_SCOPE === undefined) setDefaultTimeout(60_000)
