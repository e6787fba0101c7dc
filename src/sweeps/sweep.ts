/**
 * Finds rows whose intent has no running workflow (a process died between the commit and the start) and mends that.
 * Must be cheap when there is nothing to do, and harmless when repeated.
 */
export interface Sweep {
  readonly name: string;
  sweep(): Promise<void>;
}
