export { cronWorkflow } from './cron.workflow';
export { exportWorkflow } from './export.workflow';
export { exportPartitionWorkflow } from './export-partition.workflow';
export { exportScheduleWorkflow } from './export-schedule.workflow';
export { runWorkflow } from './run.workflow';
export { threadExpiryWorkflow } from './thread-expiry.workflow';
export { webhookDeliveryWorkflow } from './webhook-delivery.workflow';
