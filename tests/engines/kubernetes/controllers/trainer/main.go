// The controller and the webhooks of Kubeflow Trainer for tests: see control_plane.py.
package main

import (
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlpkg "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	configapi "github.com/kubeflow/trainer/v2/pkg/apis/config/v1alpha1"
	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/controller"
	runtimecore "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	schedulerplugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	port, err := strconv.Atoi(os.Getenv("WEBHOOK_PORT"))
	must(err)
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(trainer.AddToScheme(scheme))
	must(jobset.AddToScheme(scheme))
	must(schedulerplugins.AddToScheme(scheme))
	must(volcano.AddToScheme(scheme))
	ctrl.SetLogger(zap.New())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Getenv("CERT_DIR")}),
	})
	must(err)
	ctx := ctrl.SetupSignalHandler()
	runtimes, err := runtimecore.New(ctx, mgr.GetClient(), mgr.GetFieldIndexer(), &configapi.Configuration{})
	must(err)
	_, err = controller.SetupControllers(mgr, runtimes, ctrlpkg.Options{})
	must(err)
	_, err = webhooks.Setup(mgr, runtimes)
	must(err)
	must(mgr.Start(ctx))
}
