import type {
  FeedShape as Feed,
  RunShape as Run,
} from '../../../topics/operator/operations/data/feeds.ts'

export type { Feed, Run }
