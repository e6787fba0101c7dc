export const webhookWorkflowId = (deliveryId: string): string => `webhook-${deliveryId}`;

export interface WebhookDeliveryInput {
  deliveryId: string;
}

export interface WebhookDeliveryResult {
  outcome: 'delivered' | 'failed';
  attempts: number;
}

export interface AttemptDeliveryInput {
  deliveryId: string;
  /** 1 for the first attempt. */
  attempt: number;
}

export interface AttemptDeliveryResult {
  outcome: 'delivered' | 'retry' | 'stop';
  /** The receiver's own wish (Retry-After), in milliseconds. */
  retryAfterMs?: number;
}

export interface WebhookActivities {
  /** One POST and its row in the log. An answer that means failure is a result, not an error. */
  attemptDelivery(input: AttemptDeliveryInput): Promise<AttemptDeliveryResult>;
  /** Marks a delivery as given up, visibly. */
  giveUpDelivery(input: WebhookDeliveryInput): Promise<void>;
}
